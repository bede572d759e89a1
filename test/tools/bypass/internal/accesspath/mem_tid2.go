package accesspath

import "svc.example/bypass/internal/kernel"

var memTID2 = Path{
	Name: "mem-tid2", Title: "pread of /proc/TID2/mem", Kind: toMemory,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadMemory(kernel.Proc(a.victim.TID2, "mem"), a.victim.Address, a.victim.Length)
	},
}
