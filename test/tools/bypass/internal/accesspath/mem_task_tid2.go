package accesspath

import "svc.example/bypass/internal/kernel"

var memTaskTID2 = Path{
	Name: "mem-task-tid2", Title: "pread of /proc/P/task/TID2/mem", Kind: toMemory,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadMemory(task(a, a.victim.TID2, "mem"), a.victim.Address, a.victim.Length)
	},
}
