package accesspath

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"

	"svc.example/bypass/internal/report"
)

// Print writes the table of attack paths, one a line.
func Print([]string) error {
	for _, each := range table {
		if each.Needs == nil {
			each.Needs = []string{}
		}
		report.Line(each)
	}
	return nil
}

// Try is `bypass try <path> …`: one attempt, whose last line is a Result.
func Try(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("usage: bypass try <path> --victim-json '<line>'")
	}
	index := slices.IndexFunc(table, func(each Path) bool { return each.Name == arguments[0] })
	if index < 0 {
		return fmt.Errorf("no such path: %q", arguments[0])
	}
	a, err := parse(arguments[1:])
	if err != nil {
		return err
	}
	got, err := table[index].walk(a)
	report.Line(Judge(arguments[0], a.marker, got, err))
	return nil
}

func parse(arguments []string) (*attempt, error) {
	a := &attempt{}
	flags := flag.NewFlagSet("try", flag.ExitOnError)
	facts := flags.String("victim-json", "{}", "the line that the victim printed")
	flags.StringVar(&a.marker, "marker", "", "what to look for, when the victim's line does not say")
	flags.BoolVar(&a.allowCorePattern, "allow-core-pattern", false, "change the machine's core_pattern for a moment")
	_ = flags.Parse(arguments)
	if err := json.Unmarshal([]byte(*facts), &a.victim); err != nil {
		return nil, fmt.Errorf("--victim-json: %w", err)
	}
	if a.marker == "" {
		a.marker = a.victim.Marker
	}
	if a.marker == "" {
		return nil, errors.New("neither --marker nor the victim's line has a marker")
	}
	return a, nil
}
