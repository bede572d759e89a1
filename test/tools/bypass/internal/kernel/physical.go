package kernel

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const (
	pagemapEntry   = 8
	pagemapPresent = 1 << 63
	pagemapFrame   = 1<<55 - 1
)

// PhysicalAddress is where the page of that process lies in the machine's memory, as its pagemap tells root.
func PhysicalAddress(pid int, address uint64) (uint64, error) {
	size := uint64(unix.Getpagesize())
	entry, err := ReadMemory(Proc(pid, "pagemap"), address/size*pagemapEntry, pagemapEntry)
	if err != nil {
		return 0, fmt.Errorf("pagemap: %w", err)
	}
	if len(entry) < pagemapEntry {
		return 0, errors.New("pagemap: nothing is mapped there")
	}
	value := binary.NativeEndian.Uint64(entry)
	if value&pagemapPresent == 0 || value&pagemapFrame == 0 {
		return 0, fmt.Errorf("pagemap: no frame in %#x", value)
	}
	return (value&pagemapFrame)*size + address%size, nil
}

// ReadKernelImage reads physical memory out of a core file of the running kernel. Several parts may hold an address: on
// arm64 that of the kernel's own image reads as zeros where its pages have been freed and given to a process.
func ReadKernelImage(file *os.File, physical uint64, length int) ([]byte, error) {
	image, err := elf.NewFile(file)
	if err != nil {
		return nil, fmt.Errorf("program headers: %w", err)
	}
	var data []byte
	err = fmt.Errorf("no program header holds the physical address %#x", physical)
	for _, part := range image.Progs {
		if part.Type != elf.PT_LOAD || physical < part.Paddr || physical >= part.Paddr+part.Memsz {
			continue
		}
		data, err = ReadAt(int(file.Fd()), part.Off+physical-part.Paddr, length)
		if err == nil && len(bytes.Trim(data, "\x00")) > 0 {
			break
		}
	}
	return data, err
}
