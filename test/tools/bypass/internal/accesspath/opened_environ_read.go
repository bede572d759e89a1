package accesspath

import "svc.example/bypass/internal/kernel"

var openedEnvironRead = Path{
	Name: "opened-environ-read", Title: "environ opened before, read after", Kind: toEnviron,
	Needs: []string{needsTwoPhases},
	walk: func(a *attempt) ([]byte, error) {
		return openedBefore(a, "environ", kernel.ReadAll)
	},
}
