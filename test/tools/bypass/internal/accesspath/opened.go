package accesspath

import (
	"fmt"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

// openedBefore opens a file of the victim, and uses it after the second phase has begun.
func openedBefore(a *attempt, name string, use func(descriptor int) ([]byte, error)) ([]byte, error) {
	descriptor, err := unix.Open(kernel.Proc(a.victim.PID, name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	a.armed()
	return use(descriptor)
}
