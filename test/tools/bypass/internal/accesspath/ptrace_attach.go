package accesspath

import "svc.example/bypass/internal/kernel"

var ptraceAttach = Path{
	Name: "ptrace-attach", Title: "PTRACE_ATTACH by PID, PEEKDATA", Kind: toMemory,
	walk: func(a *attempt) ([]byte, error) {
		return stopAndPeek(a, a.victim.PID, kernel.Attach)
	},
}
