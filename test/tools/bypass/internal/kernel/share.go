package kernel

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ShareMemory makes a child with the same memory, which ends when it can read from that descriptor; until then the
// calling thread is held up. The child's number is stored before.
func ShareMemory(number *int32, descriptor int) error {
	flags := unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PARENT_SETTID | uintptr(unix.SIGCHLD)
	if made := cloneShared(flags, number, uintptr(descriptor), new(byte)); made < 0 {
		return unix.Errno(-made)
	}
	return nil
}

// cloneShared is no Go in the child, which would spoil the stack that it has in common with its parent.
//
//go:noescape
func cloneShared(flags uintptr, number *int32, descriptor uintptr, byte *byte) int

// ForkFor makes a child without exec that holds a copy of all memory and ends after that time.
//
// cgroup is a descriptor for CLONE_INTO_CGROUP.
func ForkFor(lifetime time.Duration, flags uint64, cgroup int) (int, error) {
	request := cloneArguments{flags: flags, cgroup: uint64(cgroup)}
	if flags&unix.CLONE_PARENT == 0 {
		request.exitSignal = uint64(unix.SIGCHLD)
	}
	pause := unix.NsecToTimespec(int64(lifetime))
	child, errno := cloneFor(&request, &pause)
	if errno != 0 {
		return 0, errno
	}
	return int(child), nil
}

//go:norace
//go:nosplit
func cloneFor(request *cloneArguments, pause *unix.Timespec) (uintptr, unix.Errno) {
	child, _, errno := unix.RawSyscall(
		unix.SYS_CLONE3, uintptr(unsafe.Pointer(request)), unsafe.Sizeof(*request), 0)
	if errno != 0 || child != 0 {
		return child, errno
	}
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(pause)), 0, 0)
	for {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
}
