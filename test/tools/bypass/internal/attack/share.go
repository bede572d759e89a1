package attack

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
	"svc.example/bypass/internal/victim"
)

type shared struct {
	PID int `json:"pid"`
	// Other is the thread or child that has the same memory.
	Other   int    `json:"other"`
	Address uint64 `json:"address"`
}

// share is a victim whose memory another thread or process has too, until it is told to let that end.
func share(arguments []string) error {
	flags := flag.NewFlagSet("share", flag.ExitOnError)
	with := flags.String("with", "thread", "thread, or child")
	_ = flags.Parse(arguments)
	secret := os.Getenv(victim.Variable)
	if secret == "" {
		return errors.New(victim.Variable + " is not set")
	}
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return err
	}
	copy(page, secret)
	start, path := startThread, "/proc/self/task/%d"
	if *with == "child" {
		start, path = startSharingChild, "/proc/%d"
	}
	other, end, err := start()
	if err != nil {
		return err
	}
	report.Line(shared{os.Getpid(), other, uint64(uintptr(unsafe.Pointer(&page[0])))})
	report.ReadLine()
	end()
	if err := awaitGone(fmt.Sprintf(path, other)); err != nil {
		return err
	}
	report.Line(map[string]bool{"gone": true})
	report.AwaitClose()
	return nil
}

// startThread makes one that ends for good: Go does not keep a thread whose goroutine ends locked to it.
func startThread() (int, func(), error) {
	leave, number := make(chan struct{}), make(chan int)
	go func() {
		runtime.LockOSThread()
		number <- unix.Gettid()
		<-leave
	}()
	return <-number, func() { close(leave) }, nil
}

// startSharingChild makes a child by CLONE_VM. A thread of Go's is held up for as long as it lives, so that nothing
// may be collected.
func startSharingChild() (int, func(), error) {
	runtime.GOMAXPROCS(4)
	debug.SetGCPercent(-1)
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return 0, nil, err
	}
	number := new(int32)
	go func() {
		runtime.LockOSThread()
		_ = kernel.ShareMemory(number, ends[0])
		_, _ = unix.Wait4(int(*number), nil, 0, nil)
	}()
	for atomic.LoadInt32(number) == 0 {
		time.Sleep(time.Millisecond)
	}
	return int(*number), func() { _, _ = unix.Write(ends[1], []byte{0}) }, nil
}

func awaitGone(path string) error {
	for range 2000 {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("%s did not go", path)
}
