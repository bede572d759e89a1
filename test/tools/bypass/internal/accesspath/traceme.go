package accesspath

import (
	"fmt"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var traceme = Path{
	Name: "traceme", Title: "the victim's parent, which the victim lets trace it", Kind: toMemory,
	Needs: []string{needsTwoPhases, needsOwnVictim},
	walk: func(a *attempt) ([]byte, error) {
		child, err := startVictim(a.marker)
		if err != nil {
			return nil, err
		}
		defer child.end()
		a.armedWith(map[string]any{"armed": true, "victim": child.facts})
		answer, err := child.tell("traceme")
		if err != nil {
			return nil, err
		}
		if answer.Traceme != "ok" {
			return nil, fmt.Errorf("PTRACE_TRACEME: %w", errnoNamed(answer.Traceme))
		}
		return stopBySignal(child, answer.TID)
	},
}

// stopBySignal needs no permission: a signal stops whoever is traced.
func stopBySignal(child *ownVictim, tid int) ([]byte, error) {
	if err := unix.Tgkill(child.facts.PID, tid, unix.SIGSTOP); err != nil {
		return nil, fmt.Errorf("tgkill: %w", err)
	}
	if err := kernel.AwaitStop(tid); err != nil {
		return nil, err
	}
	return kernel.PeekData(tid, child.facts.Address, child.facts.Length)
}

func errnoNamed(name string) error {
	for number := unix.Errno(1); number < 134; number++ {
		if unix.ErrnoName(number) == name {
			return number
		}
	}
	return fmt.Errorf("%s", name)
}
