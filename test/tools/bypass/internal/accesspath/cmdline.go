package accesspath

import "svc.example/bypass/internal/kernel"

var cmdline = Path{
	Name: "cmdline-setproctitle", Title: "first environment string in /proc/P/cmdline after setproctitle", Kind: toEnviron,
	Needs: []string{needsTitle},
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadPath(kernel.Proc(a.victim.PID, "cmdline"))
	},
}
