package accesspath

import (
	"svc.example/bypass/internal/kernel"
)

var tracerBefore = Path{
	Name: "tracer-before", Title: "traced before, PEEKDATA and process_vm_readv after", Kind: toMemory,
	Needs: []string{needsTwoPhases},
	walk: func(a *attempt) ([]byte, error) {
		if err := kernel.Seize(a.victim.PID); err != nil {
			return nil, err
		}
		a.armedWhile(func() { kernel.PassSignals(a.victim.PID) })
		got, err := peekAfterSeize(a)
		if err == nil {
			return got, nil
		}
		return kernel.ReadProcess(a.victim.PID, a.victim.Address, a.victim.Length)
	},
}

func peekAfterSeize(a *attempt) ([]byte, error) {
	if err := kernel.Interrupt(a.victim.PID); err != nil {
		return nil, err
	}
	return kernel.Peek(a.victim.PID, a.victim.Address, a.victim.Length)
}
