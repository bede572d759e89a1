package accesspath

import "svc.example/bypass/internal/kernel"

var environ = Path{
	Name: "environ", Title: "/proc/P/environ by its path", Kind: toEnviron,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadPath(kernel.Proc(a.victim.PID, "environ"))
	},
}
