package accesspath

import (
	"fmt"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var environOpenat2 = Path{
	Name: "environ-openat2", Title: "openat2 below a descriptor of /proc/P, with RESOLVE flags", Kind: toEnviron,
	walk: func(a *attempt) ([]byte, error) {
		folder, err := unix.Open(kernel.Proc(a.victim.PID, ""), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open of the folder: %w", err)
		}
		descriptor, err := unix.Openat2(folder, "environ", &unix.OpenHow{
			Flags: unix.O_RDONLY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
		if err != nil {
			return nil, fmt.Errorf("openat2: %w", err)
		}
		return kernel.ReadAll(descriptor)
	},
}
