package accesspath

import (
	"fmt"

	"golang.org/x/sys/unix"
)

var coreLimit = Path{
	Name: "core-limit", Title: "RLIMIT_CORE raised by prlimit from outside, then a dump", Kind: toMemory,
	Needs: []string{needsCoreLimit, endsVictim},
	walk: func(a *attempt) ([]byte, error) {
		return dumpUnder(a, unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
	},
}

// coreLimitLowered relies on the kernel, which dumps to a pipe at a limit of 0, and not at 1.
var coreLimitLowered = Path{
	Name: "core-limit-lowered", Title: "RLIMIT_CORE lowered to 0 by prlimit from outside, then a dump to a pipe",
	Kind:  toMemory,
	Needs: []string{needsCoreLimit, endsVictim},
	walk: func(a *attempt) ([]byte, error) {
		return dumpUnder(a, unix.Rlimit{Cur: 0, Max: 0})
	},
}

func dumpUnder(a *attempt, limit unix.Rlimit) ([]byte, error) {
	if err := unix.Prlimit(a.victim.PID, unix.RLIMIT_CORE, &limit, nil); err != nil {
		return nil, fmt.Errorf("prlimit: %w", err)
	}
	if !a.allowCorePattern {
		return nil, leadsTo("the limit is changed; the dump itself was not taken")
	}
	return dump(a)
}
