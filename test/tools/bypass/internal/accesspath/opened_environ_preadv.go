package accesspath

import "svc.example/bypass/internal/kernel"

var openedEnvironPreadv = Path{
	Name: "opened-environ-preadv", Title: "environ opened before, preadv after", Kind: toEnviron,
	Needs: []string{needsTwoPhases},
	walk: func(a *attempt) ([]byte, error) {
		return openedBefore(a, "environ", kernel.Preadv)
	},
}
