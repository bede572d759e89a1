package accesspath

import (
	"fmt"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var pidfdGetfd = Path{
	Name: "pidfd-getfd", Title: "a descriptor of the victim taken by pidfd_getfd", Kind: toDescriptor,
	walk: func(a *attempt) ([]byte, error) {
		process, err := unix.PidfdOpen(a.victim.PID, 0)
		if err != nil {
			return nil, fmt.Errorf("pidfd_open: %w", err)
		}
		descriptor, err := unix.PidfdGetfd(process, a.victim.Descriptor, 0)
		if err != nil {
			return nil, fmt.Errorf("pidfd_getfd: %w", err)
		}
		return kernel.ReadAt(descriptor, 0, a.victim.Length)
	},
}
