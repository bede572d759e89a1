package kernel

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Proc is the path of that file of the process.
func Proc(pid int, name string) string {
	return fmt.Sprintf("/proc/%d/%s", pid, name)
}

// ReadPath reads a whole file by open and read alone.
func ReadPath(path string) ([]byte, error) {
	descriptor, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer unix.Close(descriptor)
	return ReadAll(descriptor)
}

// ReadAll reads on from where the descriptor stands.
func ReadAll(descriptor int) ([]byte, error) {
	var all []byte
	chunk := make([]byte, 64<<10)
	for {
		count, err := unix.Read(descriptor, chunk)
		if err != nil {
			return all, fmt.Errorf("read: %w", err)
		}
		if count == 0 {
			return all, nil
		}
		all = append(all, chunk[:count]...)
	}
}

// ReadAt reads up to length bytes at the offset.
func ReadAt(descriptor int, offset uint64, length int) ([]byte, error) {
	buffer := make([]byte, length)
	count, err := unix.Pread(descriptor, buffer, int64(offset))
	if err != nil {
		return nil, fmt.Errorf("pread: %w", err)
	}
	return buffer[:count], nil
}

// ReadMemory reads from a file such as /proc/P/mem.
func ReadMemory(path string, address uint64, length int) ([]byte, error) {
	descriptor, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer unix.Close(descriptor)
	return ReadAt(descriptor, address, length)
}

// Stat holds the fields of a stat file of procfs after the name, so that index 0 is the state.
func Stat(path string) ([]string, error) {
	text, err := ReadPath(path)
	if err != nil {
		return nil, err
	}
	line := string(text)
	return strings.Fields(line[strings.LastIndexByte(line, ')')+1:]), nil
}

// Number is a decimal field of procfs, 0 where it is none.
func Number(field string) uint64 {
	value, err := strconv.ParseUint(strings.TrimSpace(field), 10, 64)
	if err != nil {
		return 0
	}
	return value
}

// Hexadecimal is an address of procfs, 0 where it is none.
func Hexadecimal(field string) uint64 {
	value, err := strconv.ParseUint(field, 16, 64)
	if err != nil {
		return 0
	}
	return value
}

// NewestPID is the number given out last, processes and threads alike.
func NewestPID() int {
	text, err := ReadPath("/proc/loadavg")
	if err != nil {
		return 0
	}
	return int(Number(string(text[bytes.LastIndexByte(text, ' ')+1:])))
}
