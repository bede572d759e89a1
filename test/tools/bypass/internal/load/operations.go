package load

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const page = 4096

// The calls are raw, because what Go adds to each would make a difference of the kernel's look smaller. Paths end
// with NUL.

func openAndClose(paths [][]byte, times int) (time.Duration, error) {
	start := time.Now()
	for index := range times {
		descriptor, errno := openRaw(paths[index%len(paths)])
		if errno != 0 {
			return 0, errno
		}
		unix.RawSyscall(unix.SYS_CLOSE, descriptor, 0, 0)
	}
	return time.Since(start), nil
}

func readOften(path []byte, length, times int) (time.Duration, error) {
	descriptor, errno := openRaw(path)
	if errno != 0 {
		return 0, errno
	}
	defer unix.Close(int(descriptor))
	var buffer [page]byte
	start := time.Now()
	for range times {
		_, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, descriptor, uintptr(unsafe.Pointer(&buffer[0])),
			uintptr(length), 0, 0, 0)
		if errno != 0 {
			return 0, errno
		}
	}
	return time.Since(start), nil
}

// mapOften locks the memory of its own process for each mapping, page fault and end of a mapping.
func mapOften(times int) (time.Duration, error) {
	start := time.Now()
	for range times {
		memory, err := unix.MmapPtr(-1, 0, nil, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return 0, err
		}
		*(*byte)(memory) = 1
		if err := unix.MunmapPtr(memory, page); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func callOften(times int) (time.Duration, error) {
	start := time.Now()
	for range times {
		unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
	}
	return time.Since(start), nil
}

func executeOften(program string, times int) (time.Duration, error) {
	start := time.Now()
	for range times {
		pid, err := execute(program, nil)
		if err != nil {
			return 0, err
		}
		if _, err := unix.Wait4(pid, nil, 0, nil); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

func openRaw(path []byte) (uintptr, unix.Errno) {
	// AT_FDCWD is negative, which no constant conversion to uintptr takes.
	current := unix.AT_FDCWD
	descriptor, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(current), uintptr(unsafe.Pointer(&path[0])),
		unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	return descriptor, errno
}

func terminated(path string) []byte { return append([]byte(path), 0) }
