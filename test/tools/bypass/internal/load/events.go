package load

import (
	"errors"
	"flag"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

const tick = 2 * time.Millisecond

type opened struct {
	Attempts int   `json:"attempts"`
	Opened   int   `json:"opened"`
	Denied   int   `json:"denied"`
	Failed   int   `json:"failed"`
	Millis   int64 `json:"milliseconds"`
}

// Events is `bypass events`: exactly so many opens of an environ, spread over threads and time.
func Events(arguments []string) error {
	flags := flag.NewFlagSet("events", flag.ExitOnError)
	pid := flags.Int("pid", 0, "whose environ")
	perSecond := flags.Int("per-second", 10_000, "opens a second, of all threads")
	seconds := flags.Int("seconds", 1, "for how long")
	threads := flags.Int("threads", 4, "how many threads")
	_ = flags.Parse(arguments)
	start, shares := time.Now(), make([]opened, *threads)
	var all sync.WaitGroup
	for index := range shares {
		all.Go(func() {
			runtime.LockOSThread()
			total := share(*perSecond**seconds, *threads, index)
			shares[index] = openPaced(kernel.Proc(*pid, "environ"), total, time.Duration(*seconds)*time.Second)
		})
	}
	all.Wait()
	report.Line(sum(shares, time.Since(start)))
	return nil
}

// share divides a total without a remainder.
func share(total, parts, index int) int {
	return total*(index+1)/parts - total*index/parts
}

func openPaced(path string, total int, length time.Duration) (result opened) {
	start := time.Now()
	for result.Attempts < total {
		due := int(int64(total) * int64(time.Since(start)) / int64(length))
		for result.Attempts < min(due, total) {
			result.open(path)
		}
		time.Sleep(tick)
	}
	return result
}

func (o *opened) open(path string) {
	descriptor, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	o.Attempts++
	switch {
	case err == nil:
		_ = unix.Close(descriptor)
		o.Opened++
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		o.Denied++
	default:
		o.Failed++
	}
}

func sum(shares []opened, length time.Duration) (all opened) {
	for _, each := range shares {
		all.Attempts += each.Attempts
		all.Opened += each.Opened
		all.Denied += each.Denied
		all.Failed += each.Failed
	}
	all.Millis = length.Milliseconds()
	return all
}
