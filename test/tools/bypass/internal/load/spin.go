package load

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/accesspath"
	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

const (
	spinners = 2
	// shared is the number of the first descriptor beyond the standard ones.
	shared = 3
)

// Spin is `bypass spin`: readers that have one thread open environ, while others read the coming descriptor without
// pause into memory that outlives them.
func Spin(arguments []string) error {
	flags := flag.NewFlagSet("spin", flag.ExitOnError)
	target := targetFlags(flags)
	limit := flags.Int("count", 0, "so many readers")
	_ = flags.Parse(arguments)
	var result count
	for range *limit {
		outcome, err := spinElsewhere(target)
		if err != nil {
			return err
		}
		result.add(outcome)
	}
	report.Line(result)
	return nil
}

// spinElsewhere judges by what is in the memory once the reader has ended, however it ended.
func spinElsewhere(target *target) (string, error) {
	memory, err := unix.MemfdCreate("spin", unix.MFD_CLOEXEC)
	if err != nil {
		return "", err
	}
	file := os.NewFile(uintptr(memory), "spin")
	defer file.Close()
	if err := file.Truncate(int64(spinners * unix.Getpagesize())); err != nil {
		return "", err
	}
	command := exec.Command("/proc/self/exe", "spin-once", strconv.Itoa(target.pid))
	command.ExtraFiles = []*os.File{file}
	command.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	ending := command.Run()
	got := make([]byte, spinners*unix.Getpagesize())
	if _, err := file.ReadAt(got, 0); err != nil {
		return "", err
	}
	if bytes.Contains(got, []byte(target.marker)) {
		return accesspath.Leaked, nil
	}
	return ended(ending), nil
}

func ended(err error) string {
	var status *exec.ExitError
	switch {
	case !errors.As(err, &status):
		return accesspath.Failed
	case status.Sys().(syscall.WaitStatus).Signaled():
		return killed
	case status.ExitCode() == int(unix.EACCES):
		return accesspath.Denied
	default:
		return accesspath.Failed
	}
}

// SpinOnce is `bypass spin-once PID`: descriptor 3 is the memory to read into.
func SpinOnce(arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("usage: bypass spin-once <pid>")
	}
	pid, err := strconv.Atoi(arguments[0])
	if err != nil {
		return err
	}
	// Raw calls keep their processors to themselves.
	runtime.GOMAXPROCS(spinners + 2)
	page := unix.Getpagesize()
	memory, err := unix.Mmap(shared, 0, spinners*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	coming, err := comingDescriptor()
	if err != nil {
		return err
	}
	var read atomic.Int32
	var spinning atomic.Int32
	for index := range spinners {
		go spin(coming, memory[index*page:(index+1)*page], &spinning, &read)
	}
	for spinning.Load() < spinners {
		runtime.Gosched()
	}
	if _, err := unix.Open(kernel.Proc(pid, "environ"), unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		os.Exit(int(err.(unix.Errno)))
	}
	for read.Load() == 0 {
		runtime.Gosched()
	}
	return nil
}

// comingDescriptor is the number that the next opened file gets.
func comingDescriptor() (int, error) {
	next, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	return next, unix.Close(next)
}

func spin(descriptor int, into []byte, spinning, read *atomic.Int32) {
	runtime.LockOSThread()
	spinning.Add(1)
	for {
		got, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(descriptor),
			uintptr(unsafe.Pointer(&into[0])), uintptr(len(into)), 0, 0, 0)
		if errno == 0 && got > 0 {
			read.Add(1)
		}
	}
}
