package accesspath

import "svc.example/bypass/internal/kernel"

// stopAndPeek reads the victim's buffer after a thread of it was stopped.
func stopAndPeek(a *attempt, tid int, stop func(tid int) error) ([]byte, error) {
	if err := stop(tid); err != nil {
		return nil, err
	}
	return kernel.Peek(tid, a.victim.Address, a.victim.Length)
}

func seizeAndStop(tid int) error {
	if err := kernel.Seize(tid); err != nil {
		return err
	}
	return kernel.Interrupt(tid)
}
