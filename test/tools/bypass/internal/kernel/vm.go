package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ReadProcess reads another process's memory by process_vm_readv.
func ReadProcess(tid int, address uint64, length int) ([]byte, error) {
	buffer := make([]byte, length)
	local := []unix.Iovec{{Base: &buffer[0]}}
	local[0].SetLen(length)
	remote := []unix.RemoteIovec{{Base: uintptr(address), Len: length}}
	count, err := unix.ProcessVMReadv(tid, local, remote, 0)
	if err != nil {
		return nil, fmt.Errorf("process_vm_readv: %w", err)
	}
	return buffer[:count], nil
}
