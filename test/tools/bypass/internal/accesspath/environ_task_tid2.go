package accesspath

import "svc.example/bypass/internal/kernel"

var environTaskTID2 = Path{
	Name: "environ-task-tid2", Title: "/proc/P/task/TID2/environ of another thread", Kind: toEnviron,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadPath(task(a, a.victim.TID2, "environ"))
	},
}
