// Package attack goes for the guard itself: it outruns, floods or outlives it, or is there before it.
package attack

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/report"
)

var attacks = map[string]func([]string) error{
	"breed":       breed,
	"breed-one":   breedOne,
	"flood":       flood,
	"flood-one":   floodOne,
	"hold":        hold,
	"kill-decoys": killDecoys,
	"limit":       limit,
	"lurk":        lurk,
	"migrate":     migrate,
	"outrun":      outrun,
	"outrun-one":  outrunOne,
	"perf":        perf,
	"share":       share,
}

// Run is `bypass attack <name> …`.
func Run(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("usage: bypass attack <name>")
	}
	attack, known := attacks[arguments[0]]
	if !known {
		return fmt.Errorf("no such attack: %q", arguments[0])
	}
	return attack(arguments[1:])
}

type answer struct {
	// Done says that the kernel did what it was asked.
	Done  bool   `json:"done"`
	Errno string `json:"errno,omitempty"`
}

// tell writes what the kernel made of a request.
func tell(err error) {
	var errno unix.Errno
	if errors.As(err, &errno) {
		report.Line(answer{Errno: unix.ErrnoName(errno)})
		return
	}
	report.Line(answer{Done: err == nil})
}
