package accesspath

import (
	"fmt"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var environOPath = Path{
	Name: "environ-o-path", Title: "O_PATH of environ, reopened through /proc/self/fd", Kind: toEnviron,
	walk: func(a *attempt) ([]byte, error) {
		handle, err := unix.Open(kernel.Proc(a.victim.PID, "environ"), unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("open O_PATH: %w", err)
		}
		return kernel.ReadPath(fmt.Sprintf("/proc/self/fd/%d", handle))
	},
}
