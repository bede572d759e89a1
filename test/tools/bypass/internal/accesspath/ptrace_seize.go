package accesspath

var ptraceSeize = Path{
	Name: "ptrace-seize", Title: "PTRACE_SEIZE, INTERRUPT, PEEKDATA", Kind: toMemory,
	walk: func(a *attempt) ([]byte, error) {
		return stopAndPeek(a, a.victim.PID, seizeAndStop)
	},
}
