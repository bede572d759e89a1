package victim

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	busy = 200 * time.Microsecond
	idle = 5 * time.Millisecond
)

// startSecondThread keeps the marker on the stack of a thread that computes a little and makes system calls.
func startSecondThread(marker string) int {
	tid := make(chan int)
	go func() {
		runtime.LockOSThread()
		tid <- unix.Gettid()
		for {
			burn(marker)
		}
	}()
	return <-tid
}

//go:noinline
func burn(marker string) {
	var frame [256]byte
	copy(frame[:], marker)
	for until := time.Now().Add(busy); time.Now().Before(until); {
		unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
	}
	sink = frame[len(marker)%len(frame)]
	pause := unix.NsecToTimespec(int64(idle))
	_ = unix.Nanosleep(&pause, nil)
}

// sink keeps the compiler from dropping the frame.
var sink byte
