package kernel

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cloneArguments is struct clone_args.
type cloneArguments struct {
	flags, pidfd, childTID, parentTID, exitSignal uint64
	stack, stackSize, tls                         uint64
	setTID, setTIDSize, cgroup                    uint64
}

// ExecuteAs executes this program anew in a child of exactly that PID, which ends with the calling thread at the
// latest. EEXIST: the PID is taken. It returns after the exec.
func ExecuteAs(pid int, arguments, environment []string) error {
	path, err := unix.BytePtrFromString("/proc/self/exe")
	if err != nil {
		return err
	}
	argv, err := pointers(arguments)
	if err != nil {
		return err
	}
	envp, err := pointers(environment)
	if err != nil {
		return err
	}
	wanted := int32(pid)
	request := cloneArguments{flags: unix.CLONE_VFORK, exitSignal: uint64(unix.SIGCHLD),
		setTID: uint64(uintptr(unsafe.Pointer(&wanted))), setTIDSize: 1}
	errno := cloneAndExecute(&request, path, &argv[0], &envp[0])
	runtime.KeepAlive(&wanted)
	if errno != 0 {
		return fmt.Errorf("clone3: %w", errno)
	}
	return nil
}

// The child must not touch Go's scheduler.
//
//go:norace
//go:nosplit
func cloneAndExecute(request *cloneArguments, path *byte, argv, envp **byte) unix.Errno {
	child, _, errno := unix.RawSyscall(
		unix.SYS_CLONE3, uintptr(unsafe.Pointer(request)), unsafe.Sizeof(*request), 0)
	if errno != 0 || child != 0 {
		return errno
	}
	unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(argv)),
		uintptr(unsafe.Pointer(envp)))
	for {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 1, 0, 0)
	}
}

func pointers(texts []string) ([]*byte, error) {
	all := make([]*byte, 0, len(texts)+1)
	for _, text := range texts {
		pointer, err := unix.BytePtrFromString(text)
		if err != nil {
			return nil, err
		}
		all = append(all, pointer)
	}
	return append(all, nil), nil
}
