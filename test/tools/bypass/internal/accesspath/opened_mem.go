package accesspath

import "svc.example/bypass/internal/kernel"

var openedMem = Path{
	Name: "opened-mem", Title: "mem opened before, read after", Kind: toMemory,
	Needs: []string{needsTwoPhases},
	walk: func(a *attempt) ([]byte, error) {
		return openedBefore(a, "mem", func(descriptor int) ([]byte, error) {
			return kernel.ReadAt(descriptor, a.victim.Address, a.victim.Length)
		})
	},
}
