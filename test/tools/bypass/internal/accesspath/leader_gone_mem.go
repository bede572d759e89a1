package accesspath

import "svc.example/bypass/internal/kernel"

var leaderGoneMem = Path{
	Name: "leader-gone-mem", Title: "mem of a thread whose leader has ended", Kind: toMemory,
	Needs: []string{needsLeaderGone},
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadMemory(task(a, a.victim.TID2, "mem"), a.victim.Address, a.victim.Length)
	},
}
