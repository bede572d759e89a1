package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const portion = 128 << 10

// Preadv reads the beginning of a file by preadv.
func Preadv(descriptor int) ([]byte, error) {
	buffer := make([]byte, portion)
	count, err := unix.Preadv(descriptor, [][]byte{buffer}, 0)
	if err != nil {
		return nil, fmt.Errorf("preadv: %w", err)
	}
	return buffer[:count], nil
}
