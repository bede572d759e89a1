package attack

import (
	"flag"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/accesspath"
	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

// hold opens a file such as /proc/P/task/T/mem, and reads it when it is told so.
func hold(arguments []string) error {
	flags := flag.NewFlagSet("hold", flag.ExitOnError)
	path := flags.String("path", "", "what to open")
	address := flags.Uint64("address", 0, "where to read")
	marker := flags.String("marker", "", "what should be there")
	_ = flags.Parse(arguments)
	descriptor, err := unix.Open(*path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	report.Line(map[string]bool{"holding": true})
	if _, open := report.ReadLine(); !open {
		return nil
	}
	got, err := kernel.ReadAt(descriptor, *address, len(*marker))
	report.Line(accesspath.Judge("hold", *marker, got, err))
	return nil
}
