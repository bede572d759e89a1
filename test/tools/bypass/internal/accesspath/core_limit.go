package accesspath

import (
	"fmt"

	"golang.org/x/sys/unix"
)

var coreLimit = Path{
	Name: "core-limit", Title: "RLIMIT_CORE raised by prlimit from outside, then a dump", Kind: toMemory,
	Needs: []string{needsCoreLimit, endsVictim},
	walk: func(a *attempt) ([]byte, error) {
		unlimited := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(a.victim.PID, unix.RLIMIT_CORE, &unlimited, nil); err != nil {
			return nil, fmt.Errorf("prlimit: %w", err)
		}
		if !a.allowCorePattern {
			return nil, leadsTo("the limit is raised; the dump itself was not taken")
		}
		return dump(a)
	},
}
