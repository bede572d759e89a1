package accesspath

import "svc.example/bypass/internal/kernel"

var environTopTID2 = Path{
	Name: "environ-top-tid2", Title: "/proc/TID2/environ, which no listing shows", Kind: toEnviron,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadPath(kernel.Proc(a.victim.TID2, "environ"))
	},
}
