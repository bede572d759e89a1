package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// action is struct sigaction of the kernel on amd64 and arm64; all zero it is the default.
type action struct{ handler, flags, restorer, mask uint64 }

// DefaultAction takes a signal out of the hands of Go's runtime, whose own handler would end the process without a
// core dump.
func DefaultAction(signal unix.Signal) error {
	var none action
	_, _, errno := unix.RawSyscall6(
		unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(&none)), 0, unsafe.Sizeof(none.mask), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// BlockSignals keeps what can be blocked from the calling thread, for good.
func BlockSignals() error {
	all := ^uint64(0)
	_, _, errno := unix.RawSyscall6(
		unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), 0, unsafe.Sizeof(all), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
