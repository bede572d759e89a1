package attack

import (
	"flag"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

// killDecoys kills the children of a process that go by a name, as soon as there is one, so many times.
func killDecoys(arguments []string) error {
	flags := flag.NewFlagSet("kill-decoys", flag.ExitOnError)
	agent := flags.Int("agent", 0, "whose children")
	name := flags.String("name", "cat", "what they are called")
	times := flags.Int("times", 6, "how many")
	pause := flags.Duration("pause", 300*time.Millisecond, "after each")
	_ = flags.Parse(arguments)
	report.Line(map[string]bool{"ready": true})
	closed := report.Closed()
	killed := map[int]bool{}
	for len(killed) < *times && !closed.Load() {
		for _, child := range children(*agent) {
			if !killed[child] && isCalled(child, *name) && unix.Kill(child, unix.SIGKILL) == nil {
				killed[child] = true
				time.Sleep(*pause)
			}
		}
		time.Sleep(time.Millisecond)
	}
	report.Line(map[string]int{"killed": len(killed)})
	return nil
}

func children(pid int) []int {
	list, _ := kernel.ReadPath(kernel.Proc(pid, fmt.Sprintf("task/%d/children", pid)))
	var all []int
	for _, field := range strings.Fields(string(list)) {
		all = append(all, int(kernel.Number(field)))
	}
	return all
}

func isCalled(pid int, name string) bool {
	comm, err := kernel.ReadPath(kernel.Proc(pid, "comm"))
	return err == nil && strings.TrimSpace(string(comm)) == name
}
