package attack

import (
	"flag"

	"golang.org/x/sys/unix"
)

// limit sets another process's limit on core dumps.
func limit(arguments []string) error {
	flags := flag.NewFlagSet("limit", flag.ExitOnError)
	pid := flags.Int("pid", 0, "whose")
	to := flags.Int64("to", 0, "in bytes; -1: none")
	_ = flags.Parse(arguments)
	wanted := unix.Rlimit{Cur: uint64(*to), Max: uint64(*to)}
	tell(unix.Prlimit(*pid, unix.RLIMIT_CORE, &wanted, nil))
	return nil
}
