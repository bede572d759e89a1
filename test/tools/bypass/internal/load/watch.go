package load

import (
	"flag"
	"runtime"
	"sync"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"

	"golang.org/x/sys/unix"
)

type watched struct {
	Children int `json:"children"`
	count
}

// Watch is `bypass watch-children`: it reads the environ of every descendant of a process, from the first moment at
// which its number exists, as often as all CPUs can, until standard input closes.
func Watch(arguments []string) error {
	flags := flag.NewFlagSet("watch-children", flag.ExitOnError)
	pid := flags.Int("pid", 0, "whose descendants")
	marker := flags.String("marker", "", "what to look for")
	tell := flags.Bool("tell", false, "also say at once when something leaked, for the reader may be killed next")
	nice := flags.Int("nice", 0, "how much the threads that read yield to others")
	_ = flags.Parse(arguments)
	begun, family, closed := kernel.NewestPID(), newFamily(*pid), report.Closed()
	results := make([]count, runtime.NumCPU())
	var all sync.WaitGroup
	for index := range results {
		all.Go(func() {
			runtime.LockOSThread()
			_ = unix.Setpriority(unix.PRIO_PROCESS, 0, *nice)
			watcher := &watcher{family: family, marker: *marker, result: &results[index], tell: *tell, last: begun}
			for !closed.Load() {
				watcher.round()
			}
		})
	}
	report.Line(map[string]any{"ready": true})
	all.Wait()
	report.Line(total(family, results))
	return nil
}

func total(family *family, results []count) watched {
	result := watched{Children: family.size()}
	for _, each := range results {
		result.Attempts += each.Attempts
		result.Leaked += each.Leaked
		result.Denied += each.Denied
		result.Failed += each.Failed
	}
	return result
}
