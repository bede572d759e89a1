package load

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

// Herd is `bypass herd`: many processes that do nothing, until standard input closes. Without a program they are
// forked from this one and cost little more than their page tables.
func Herd(arguments []string) error {
	flags := flag.NewFlagSet("herd", flag.ExitOnError)
	count := flags.Int("count", 4096, "how many")
	program := flags.String("exec", "", "program to execute; its arguments follow the flags")
	wait := flags.Bool("wait", false, "tell the own PID and wait for a line first")
	_ = flags.Parse(arguments)
	if *wait {
		report.Line(map[string]any{"pid": os.Getpid(), "waiting": true})
		if _, open := report.ReadLine(); !open {
			return errors.New("standard input closed before the start")
		}
	}
	pids, err := startAll(*count, *program, flags.Args())
	defer endAll(pids)
	if err != nil {
		return fmt.Errorf("after %d processes: %w", len(pids), err)
	}
	report.Line(map[string]any{"pids": pids})
	report.AwaitClose()
	return nil
}

func startAll(count int, program string, arguments []string) ([]int, error) {
	start := kernel.ForkPaused
	if program != "" {
		start = func() (int, error) { return execute(program, arguments) }
	}
	pids := make([]int, 0, count)
	for range count {
		pid, err := start()
		if err != nil {
			return pids, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

func execute(program string, arguments []string) (int, error) {
	return syscall.ForkExec(program, append([]string{program}, arguments...), &syscall.ProcAttr{
		Env: os.Environ(), Sys: &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}})
}

func endAll(pids []int) {
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	for _, pid := range pids {
		_, _ = unix.Wait4(pid, nil, 0, nil)
	}
}
