package kernel

import "golang.org/x/sys/unix"

// ForkPaused makes a child without exec that holds a copy of all memory, closes its descriptors and waits for its
// end, which comes with the end of the calling thread at the latest.
//
// The child must not touch Go's scheduler, whose other threads it does not have. Every function that may grow its stack
// does where the parent was just being preempted, so none such is called there.
//
//go:norace
//go:nosplit
func ForkPaused() (int, error) {
	parent := uintptr(unix.Getpid())
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if pid == 0 {
		pause(parent)
	}
	return int(pid), nil
}

//go:norace
//go:nosplit
func pause(parent uintptr) {
	unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	unix.RawSyscall(unix.SYS_CLOSE_RANGE, 0, uintptr(^uint32(0)), 0)
	for {
		// The parent may have ended before the signal was asked for.
		if now, _, _ := unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0); now != parent {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}
