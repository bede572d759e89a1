package accesspath

import "svc.example/bypass/internal/kernel"

var leaderGoneEnviron = Path{
	Name: "leader-gone-environ", Title: "environ of a thread whose leader has ended", Kind: toEnviron,
	Needs: []string{needsLeaderGone},
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadPath(task(a, a.victim.TID2, "environ"))
	},
}
