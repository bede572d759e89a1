package attack

import (
	"flag"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
	"svc.example/bypass/internal/victim"
)

const (
	lifetime = 3 * time.Millisecond
	rest     = time.Millisecond
)

// breed stays outside of what is protected and starts a process that may be; told so, that one makes children of
// this one by CLONE_PARENT, until standard input closes.
func breed(arguments []string) error {
	flags := flag.NewFlagSet("breed", flag.ExitOnError)
	marker := flags.String("marker", "", "the secret of its process")
	_ = flags.Parse(arguments)
	one := elsewhere("breed-one")
	one.Env = []string{victim.Variable + "=" + *marker}
	input, err := one.StdinPipe()
	if err != nil {
		return err
	}
	if err := one.Start(); err != nil {
		return err
	}
	report.Line(map[string]int{"pid": one.Process.Pid})
	report.ReadLine()
	if _, err := io.WriteString(input, "breed\n"); err != nil {
		return err
	}
	go func() {
		report.AwaitClose()
		_ = one.Process.Kill()
	}()
	report.Line(map[string]int{"children": reapAll() - 1})
	return nil
}

func reapAll() int {
	for ended := 0; ; {
		switch _, err := unix.Wait4(-1, nil, unix.WALL, nil); err {
		case nil:
			ended++
		case unix.EINTR:
		default:
			return ended
		}
	}
}

func breedOne([]string) error {
	if _, open := report.ReadLine(); !open {
		return nil
	}
	if err := yield(); err != nil {
		return err
	}
	for {
		if _, err := kernel.ForkFor(lifetime, unix.CLONE_PARENT, 0); err != nil {
			return err
		}
		time.Sleep(rest)
	}
}

// migrate is a process that makes a child straight into another cgroup.
func migrate(arguments []string) error {
	flags := flag.NewFlagSet("migrate", flag.ExitOnError)
	cgroup := flags.String("cgroup", "", "folder of the child's cgroup")
	_ = flags.Parse(arguments)
	report.Line(map[string]int{"pid": os.Getpid()})
	report.ReadLine()
	folder, err := unix.Open(*cgroup, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	child, err := kernel.ForkFor(time.Minute, unix.CLONE_INTO_CGROUP, folder)
	if err != nil {
		return err
	}
	report.Line(map[string]int{"child": child})
	report.AwaitClose()
	_ = unix.Kill(child, unix.SIGKILL)
	_, err = unix.Wait4(child, nil, 0, nil)
	return err
}
