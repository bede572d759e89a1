package victim

import (
	"flag"
	"os"

	"golang.org/x/sys/unix"
)

type options struct {
	child        bool
	lateExec     bool
	setproctitle bool
	coreLimit    int64
	tool         string
}

func parse(arguments []string) options {
	var chosen options
	flags := flag.NewFlagSet("victim", flag.ExitOnError)
	flags.BoolVar(&chosen.child, "child", false, "execute a child with the same environment")
	flags.BoolVar(&chosen.lateExec, "late-exec", false,
		"read the marker from standard input, then execute itself with it in the environment")
	flags.BoolVar(&chosen.setproctitle, "setproctitle", false, "overwrite the arguments up to the environment")
	flags.Int64Var(&chosen.coreLimit, "core-limit", -1, "set the soft limit of core dumps, in bytes")
	flags.StringVar(&chosen.tool, "tool", "",
		"start a program over and over, with mounts of its own over folders in this empty one")
	_ = flags.Parse(arguments)
	return chosen
}

func limitCore(soft int64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		return err
	}
	limit.Cur = uint64(soft)
	limit.Max = max(limit.Max, limit.Cur)
	return unix.Setrlimit(unix.RLIMIT_CORE, &limit)
}

// executeAgain replaces the process by a new victim of the same PID, with the marker first in its environment.
func executeAgain(marker string) error {
	arguments := []string{os.Args[0]}
	for _, argument := range os.Args[1:] {
		if argument != "--late-exec" {
			arguments = append(arguments, argument)
		}
	}
	return unix.Exec("/proc/self/exe", arguments, environment(marker))
}

func environment(marker string) []string {
	_ = os.Unsetenv(Variable)
	return append([]string{Variable + "=" + marker}, os.Environ()...)
}
