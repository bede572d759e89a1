package accesspath

import "svc.example/bypass/internal/kernel"

var childMemory = Path{
	Name: "child-memory", Title: "/proc/C/mem of the child", Kind: toMemory,
	Needs: []string{needsChild},
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadMemory(kernel.Proc(a.victim.Child, "mem"), a.victim.ChildAddress, a.victim.Length)
	},
}
