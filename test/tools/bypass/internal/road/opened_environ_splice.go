package road

import "svc.example/bypass/internal/kernel"

var openedEnvironSplice = Road{
	Name: "opened-environ-splice", Title: "environ opened before, spliced into a pipe after", Kind: toEnviron,
	Needs: []string{needsTwoPhases},
	walk: func(a *attempt) ([]byte, error) {
		return movedBefore(a, kernel.Splice)
	},
}
