// Package ordinary reads of another process what tools read of it every day.
package ordinary

import (
	"errors"
	"flag"
	"io/fs"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/report"
)

type check struct {
	name string
	read func(pid int) error
}

type answer struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Absent: this kernel has no such file.
	Absent bool   `json:"absent,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Run is `bypass ordinary`: every check on a living process, a line each.
func Run(arguments []string) error {
	flags := flag.NewFlagSet("ordinary", flag.ExitOnError)
	pid := flags.Int("pid", 0, "whose")
	_ = flags.Parse(arguments)
	if err := unix.Kill(*pid, 0); err != nil {
		return err
	}
	for _, each := range checks() {
		report.Line(judge(each.name, each.read(*pid)))
	}
	return nil
}

func judge(name string, err error) answer {
	result := answer{Name: name, OK: err == nil || errors.Is(err, fs.ErrNotExist)}
	if err != nil {
		result.Absent = result.OK
		result.Error = err.Error()
	}
	return result
}

func checks() []check {
	var all []check
	for _, group := range [][]check{namespaces(), files(), links(), listings(), calls()} {
		all = append(all, group...)
	}
	return all
}
