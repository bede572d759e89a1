package road

import "svc.example/bypass/internal/kernel"

var environ = Road{
	Name: "environ", Title: "/proc/P/environ by its path", Kind: toEnviron,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadPath(kernel.Proc(a.victim.PID, "environ"))
	},
}
