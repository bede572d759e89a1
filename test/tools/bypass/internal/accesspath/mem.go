package accesspath

import "svc.example/bypass/internal/kernel"

var mem = Path{
	Name: "mem", Title: "pread of /proc/P/mem", Kind: toMemory,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadMemory(kernel.Proc(a.victim.PID, "mem"), a.victim.Address, a.victim.Length)
	},
}
