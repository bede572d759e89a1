//go:build linux && !svc_nonlinux

package secrets

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	variable = "SVC_SECRET_FD"

	wrapIt = "start the program under svc-wrapper, leave " + variable +
		" as the wrapper has set it, and open the store once per process"
	raiseLimit = "raise the memory-lock limit (ulimit -l): secret pages count against it"
)

var (
	errNotSecret = errors.New("it is not secret memory")
	errEmpty     = errors.New("it is empty")
)

func open() (*Store, error) {
	value := os.Getenv(variable)
	if value == "" {
		return nil, nil
	}
	descriptor, err := descriptorNumber(value)
	if err != nil {
		return nil, err
	}
	mapped, err := mapSecret(descriptor)
	if err != nil {
		return nil, err
	}
	if err := unix.Close(descriptor); err != nil {
		return nil, errors.Join(unusable(descriptor, err, wrapIt), unmap(mapped))
	}
	release := func() error { return unmap(mapped) }
	return &Store{region: mapped, index: readIndex(mapped), release: release}, nil
}

// descriptorNumber takes digits only: neither a sign nor another base.
func descriptorNumber(value string) (int, error) {
	number, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("svc-sdk: %s=%q is not a descriptor number: %s", variable, value, wrapIt)
	}
	return int(number), nil
}

// mapSecret leaves the descriptor open.
func mapSecret(descriptor int) (region, error) {
	size, err := secretSize(descriptor)
	if err != nil {
		return nil, unusable(descriptor, err, wrapIt)
	}
	address, err := unix.MmapPtr(descriptor, 0, nil, uintptr(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, unusable(descriptor, fmt.Errorf("mmap: %w", err), raiseLimit)
	}
	return unsafe.Slice((*byte)(address), size), nil
}

// secretSize takes the file system's word for what the descriptor is, which no file's name can imitate.
func secretSize(descriptor int) (int, error) {
	var system unix.Statfs_t
	if err := unix.Fstatfs(descriptor, &system); err != nil {
		return 0, err
	}
	if system.Type != unix.SECRETMEM_MAGIC {
		return 0, errNotSecret
	}
	var status unix.Stat_t
	if err := unix.Fstat(descriptor, &status); err != nil {
		return 0, err
	}
	if status.Size == 0 {
		return 0, errEmpty
	}
	return int(status.Size), nil
}

// unmap puts zero pages where the secrets were, so that a value which somebody still holds does not fault, and no
// later mapping comes to lie below it. They take address space only.
func unmap(mapped region) error {
	address, size := unsafe.Pointer(unsafe.SliceData(mapped)), uintptr(len(mapped))
	flags := unix.MAP_FIXED | unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
	if _, err := unix.MmapPtr(-1, 0, address, size, unix.PROT_READ, flags); err != nil {
		return unix.MunmapPtr(address, size)
	}
	return nil
}

func unusable(descriptor int, cause error, nextStep string) error {
	return fmt.Errorf("svc-sdk: %s=%d cannot be mapped: %w: %s", variable, descriptor, cause, nextStep)
}
