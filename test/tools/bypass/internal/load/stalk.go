package load

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"

	"golang.org/x/sys/unix"
)

// turnsOfOne is how long a reader lives at most.
const turnsOfOne = 256

type stalked struct {
	Done     bool `json:"done"`
	Children int  `json:"children"`
	Readers  int  `json:"readers"`
	Killed   int  `json:"killed"`
}

// turned is what a reader says at its end, unless it is killed.
type turned struct {
	Turns  int `json:"turns"`
	Denied int `json:"denied"`
	Failed int `json:"failed"`
}

type stalker struct {
	family *family
	marker string
	pace   []string
	last   int
	result stalked
}

// Stalk is `bypass stalk`: it lies in wait for the descendants of a process, and has fresh readers try environment and
// memory of all of them over and over until standard input closes. Each read that succeeded is told at once: the
// reader may be killed next.
func Stalk(arguments []string) error {
	flags := flag.NewFlagSet("stalk", flag.ExitOnError)
	ancestor := flags.Int("ancestor", 0, "whose descendants")
	one := flags.Int("one", 0, "this process instead, for a number of turns")
	marker := flags.String("marker", "", "what to look for")
	hertz := flags.Int("hz", 1000, "turns a second")
	nice := flags.Int("nice", 0, "how much it yields to others")
	_ = flags.Parse(arguments)
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, *nice)
	if *one != 0 {
		stalkOne(newPrey(*one, *marker), time.Second/time.Duration(max(*hertz, 1)))
		return nil
	}
	closed := report.Closed()
	stalker := &stalker{family: newFamily(*ancestor), marker: *marker}
	stalker.pace = []string{"--hz", strconv.Itoa(*hertz), "--nice", strconv.Itoa(*nice)}
	report.Line(map[string]any{"ready": true})
	stalker.sendOut(closed)
	stalker.result.Done, stalker.result.Children = true, stalker.family.size()
	report.Line(stalker.result)
	return nil
}

// discover looks at every number that was given out since it did so last.
func (s *stalker) discover() {
	newest := kernel.NewestPID()
	if s.last == 0 || newest < s.last {
		s.last = newest
	}
	for ; s.last < newest; s.last++ {
		if isProcess(s.last + 1) {
			s.family.has(s.last + 1)
		}
	}
}

// sendOut keeps one reader on each descendant.
func (s *stalker) sendOut(closed *atomic.Bool) {
	ended := make(chan reader)
	out := map[int]bool{}
	take := func(reader reader) {
		delete(out, reader.pid)
		s.result.Readers++
		if reader.killed {
			s.result.Killed++
		}
	}
	for !closed.Load() {
		s.discover()
		for _, pid := range s.family.living() {
			if s.family.has(pid) && !out[pid] {
				out[pid] = true
				go func() { ended <- reader{pid, s.wasKilled(pid)} }()
			}
		}
		select {
		case reader := <-ended:
			take(reader)
		case <-time.After(time.Millisecond):
		}
	}
	for len(out) > 0 {
		take(<-ended)
	}
}

type reader struct {
	pid    int
	killed bool
}

func (s *stalker) wasKilled(pid int) bool {
	arguments := append([]string{"stalk", "--one", strconv.Itoa(pid), "--marker", s.marker}, s.pace...)
	command := exec.Command("/proc/self/exe", arguments...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	var ended *exec.ExitError
	return errors.As(command.Run(), &ended) && ended.Sys().(syscall.WaitStatus).Signaled()
}

func stalkOne(prey *prey, period time.Duration) {
	for range turnsOfOne {
		prey.turn()
		time.Sleep(period)
	}
	report.Line(turned{Turns: prey.turns, Denied: prey.denied, Failed: prey.lost})
}
