package accesspath

import "svc.example/bypass/internal/kernel"

var environTaskPID = Path{
	Name: "environ-task-pid", Title: "/proc/P/task/P/environ", Kind: toEnviron,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadPath(task(a, a.victim.PID, "environ"))
	},
}
