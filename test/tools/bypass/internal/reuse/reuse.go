// Package reuse gives a PID whose process has ended to a new one.
package reuse

import (
	"errors"
	"flag"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
	"svc.example/bypass/internal/victim"
)

const retry = time.Millisecond

// Run is `bypass reuse`: it waits until the PID is free, and has a process there with this one's environment until
// standard input closes.
func Run(arguments []string) error {
	flags := flag.NewFlagSet("reuse", flag.ExitOnError)
	pid := flags.Int("pid", 0, "the PID to take")
	wait := flags.Duration("wait", 10*time.Second, "how long it may stay taken")
	_ = flags.Parse(arguments)
	if err := take(*pid, time.Now().Add(*wait)); err != nil {
		return err
	}
	report.Line(map[string]any{"pid": *pid, "marker": os.Getenv(victim.Variable)})
	report.AwaitClose()
	return nil
}

func take(pid int, until time.Time) error {
	for {
		err := kernel.ExecuteAs(pid, []string{"bypass", "sleep"}, os.Environ())
		if !errors.Is(err, unix.EEXIST) || time.Now().After(until) {
			return err
		}
		time.Sleep(retry)
	}
}

// Sleep is `bypass sleep`: a process that does nothing until it is killed.
func Sleep([]string) error {
	for {
		time.Sleep(time.Hour)
	}
}
