package accesspath

import "svc.example/bypass/internal/kernel"

var openedEnvironSendfile = Path{
	Name: "opened-environ-sendfile", Title: "environ opened before, sent by sendfile after", Kind: toEnviron,
	Needs: []string{needsTwoPhases},
	walk: func(a *attempt) ([]byte, error) {
		return movedBefore(a, kernel.Sendfile)
	},
}
