package victim

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

type session struct {
	facts Facts
	leave chan<- struct{}
}

var commands = map[string]func(*session) error{
	"fork":        fork,
	"exit-leader": exitLeader,
	"traceme":     traceMe,
	"exec":        func(s *session) error { return executeAgain(s.facts.Marker) },
	"abort":       func(*session) error { return unix.Kill(os.Getpid(), unix.SIGABRT) },
	"end":         func(*session) error { os.Exit(0); return nil },
}

// obey carries out commands until standard input closes, which ends the process.
func obey(s *session) error {
	for {
		line, open := report.ReadLine()
		if !open {
			os.Exit(0)
		}
		command, known := commands[line]
		if !known {
			return fmt.Errorf("no such command: %q", line)
		}
		if err := command(s); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
}

// fork makes a child by fork alone: its memory is a copy, at the same addresses.
func fork(s *session) error {
	pid, err := kernel.ForkPaused()
	if err != nil {
		return err
	}
	s.facts.Child, s.facts.ChildAddress = pid, s.facts.Address
	report.Line(s.facts)
	return nil
}

func exitLeader(s *session) error {
	close(s.leave)
	path := fmt.Sprintf("/proc/self/task/%d/stat", s.facts.PID)
	for range 1000 {
		fields, err := kernel.Stat(path)
		if err != nil {
			return err
		}
		if fields[0] == "Z" {
			report.Line(map[string]any{"leaderGone": true})
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return errors.New("the main thread did not end")
}

// traceMe blocks signals first: each one that comes to a traced thread stops it, and Go sends some to itself.
func traceMe(*session) error {
	if err := kernel.BlockSignals(); err != nil {
		return err
	}
	_, _, errno := unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0)
	result := "ok"
	if errno != 0 {
		result = unix.ErrnoName(errno)
	}
	report.Line(map[string]any{"traceme": result, "tid": unix.Gettid()})
	return nil
}
