package accesspath

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var scmRights = Path{
	Name: "scm-rights", Title: "environ opened before, handed over by SCM_RIGHTS", Kind: toEnviron,
	Needs: []string{needsTwoPhases},
	walk: func(a *attempt) ([]byte, error) {
		descriptor, err := unix.Open(kernel.Proc(a.victim.PID, "environ"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open: %w", err)
		}
		ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		child, err := startHolder("received", os.NewFile(uintptr(ends[1]), "socket"))
		if err != nil {
			return nil, err
		}
		if err := unix.Sendmsg(ends[0], []byte{0}, unix.UnixRights(descriptor), nil, 0); err != nil {
			return nil, fmt.Errorf("sendmsg: %w", err)
		}
		_ = unix.Close(descriptor)
		return child.readAfter(a)
	},
}

// receive takes the descriptor that comes over that socket.
func receive(socket int) (int, error) {
	control := make([]byte, unix.CmsgSpace(4))
	_, length, _, _, err := unix.Recvmsg(socket, make([]byte, 1), control, 0)
	if err != nil {
		return 0, fmt.Errorf("recvmsg: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:length])
	if err != nil || len(messages) != 1 {
		return 0, errors.Join(errors.New("no descriptor came"), err)
	}
	descriptors, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(descriptors) != 1 {
		return 0, errors.Join(errors.New("no descriptor came"), err)
	}
	return descriptors[0], nil
}
