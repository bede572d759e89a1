package accesspath

import "svc.example/bypass/internal/kernel"

var childEnviron = Path{
	Name: "child-environ", Title: "environ of the child that inherited it", Kind: toEnviron,
	Needs: []string{needsChild},
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadPath(kernel.Proc(a.victim.Child, "environ"))
	},
}
