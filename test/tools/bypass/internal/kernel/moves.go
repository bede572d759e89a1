package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Splice moves a file's beginning into a pipe, and reads that.
func Splice(descriptor int) ([]byte, error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, err
	}
	count, err := unix.Splice(descriptor, nil, pipe[1], nil, portion, 0)
	if err != nil {
		return nil, fmt.Errorf("splice: %w", err)
	}
	buffer := make([]byte, count)
	_, err = unix.Read(pipe[0], buffer)
	return buffer, err
}

// Sendfile moves a file's beginning into a memory file, and reads that.
func Sendfile(descriptor int) ([]byte, error) {
	return intoMemory(func(target int) error {
		_, err := unix.Sendfile(target, descriptor, nil, portion)
		return wrap("sendfile", err)
	})
}

// CopyFileRange copies a file's beginning into a memory file, and reads that.
func CopyFileRange(descriptor int) ([]byte, error) {
	return intoMemory(func(target int) error {
		_, err := unix.CopyFileRange(descriptor, nil, target, nil, portion, 0)
		return wrap("copy_file_range", err)
	})
}

func intoMemory(move func(target int) error) ([]byte, error) {
	target, err := unix.MemfdCreate("moved", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer unix.Close(target)
	if err := move(target); err != nil {
		return nil, err
	}
	return ReadAt(target, 0, portion)
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
