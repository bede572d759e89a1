package accesspath

import (
	"errors"

	"golang.org/x/sys/unix"
)

// movedBefore moves an opened environ by a call that newer kernels do not offer for this file.
func movedBefore(a *attempt, move func(descriptor int) ([]byte, error)) ([]byte, error) {
	return openedBefore(a, "environ", func(descriptor int) ([]byte, error) {
		got, err := move(descriptor)
		for _, refusal := range []unix.Errno{unix.EINVAL, unix.EXDEV, unix.EOPNOTSUPP} {
			if errors.Is(err, refusal) {
				return nil, unavailable("this kernel does not move this file: %w", err)
			}
		}
		return got, err
	})
}
