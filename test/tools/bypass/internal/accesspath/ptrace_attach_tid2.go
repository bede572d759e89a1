package accesspath

import "svc.example/bypass/internal/kernel"

var ptraceAttachTID2 = Path{
	Name: "ptrace-attach-tid2", Title: "PTRACE_ATTACH by TID2, PEEKDATA", Kind: toMemory,
	walk: func(a *attempt) ([]byte, error) {
		return stopAndPeek(a, a.victim.TID2, kernel.Attach)
	},
}
