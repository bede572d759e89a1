package accesspath

import "svc.example/bypass/internal/kernel"

var openedEnvironSplice = Path{
	Name: "opened-environ-splice", Title: "environ opened before, spliced into a pipe after", Kind: toEnviron,
	Needs: []string{needsTwoPhases},
	walk: func(a *attempt) ([]byte, error) {
		return movedBefore(a, kernel.Splice)
	},
}
