package load

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

// figure is in nanoseconds per operation, of all rounds.
type figure struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
}

// kind is one of the operations that are measured, a number of times a round.
type kind struct {
	name  string
	times int
	run   func(times int) (time.Duration, error)
}

type plan struct {
	paths                              [][]byte
	opens, reads, calls, forks, rounds int
	pid                                int
	program                            string
}

// Cost is `bypass cost`: what opening and reading ordinary files and mapping memory takes. With --on-line it measures anew for each
// line of standard input, so that two states of the machine can take turns.
func Cost(arguments []string) error {
	flags := flag.NewFlagSet("cost", flag.ExitOnError)
	var plan plan
	files := flags.Int("files", 64, "how many files take turns")
	flags.IntVar(&plan.opens, "opens", 5_000, "opens a round")
	flags.IntVar(&plan.reads, "reads", 20_000, "reads a round")
	flags.IntVar(&plan.calls, "calls", 50_000, "calls a round that do nothing")
	flags.IntVar(&plan.forks, "forks", 100, "forks with exec a round")
	flags.IntVar(&plan.rounds, "rounds", 11, "rounds")
	flags.IntVar(&plan.pid, "pid", os.Getpid(), "another process, whose status is opened")
	flags.StringVar(&plan.program, "exec", "/bin/true", "what is executed")
	onLine := flags.Bool("on-line", false, "measure for each line of standard input")
	_ = flags.Parse(arguments)
	folder, err := os.MkdirTemp("", "cost-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if plan.paths, err = makeFiles(folder, *files); err != nil {
		return err
	}
	if !*onLine {
		return plan.measure()
	}
	report.Line(map[string]any{"ready": true})
	return plan.measureOnLines()
}

func (p *plan) measureOnLines() error {
	for {
		if _, open := report.ReadLine(); !open {
			return nil
		}
		if err := p.measure(); err != nil {
			return err
		}
	}
}

func makeFiles(folder string, count int) ([][]byte, error) {
	paths := make([][]byte, count)
	for index := range paths {
		path := filepath.Join(folder, strconv.Itoa(index))
		if err := os.WriteFile(path, make([]byte, page), 0o600); err != nil {
			return nil, err
		}
		paths[index] = terminated(path)
	}
	return paths, nil
}

func (p *plan) kinds() []kind {
	stat, status := terminated("/proc/self/stat"), terminated(kernel.Proc(p.pid, "status"))
	return []kind{
		{"openClose", p.opens, func(times int) (time.Duration, error) { return openAndClose(p.paths, times) }},
		{"openCloseProc", p.opens, func(times int) (time.Duration, error) { return openAndClose([][]byte{stat}, times) }},
		{"openCloseStatus", p.opens, func(times int) (time.Duration, error) { return openAndClose([][]byte{status}, times) }},
		{"readByte", p.reads, func(times int) (time.Duration, error) { return readOften(p.paths[0], 1, times) }},
		{"readPage", p.reads, func(times int) (time.Duration, error) { return readOften(p.paths[0], page, times) }},
		{"readProc", p.opens, func(times int) (time.Duration, error) { return readOften(stat, page, times) }},
		{"call", p.calls, callOften},
		{"mapPage", p.opens, mapOften},
		{"forkExec", p.forks, func(times int) (time.Duration, error) { return executeOften(p.program, times) }},
	}
}

// measure lets the kinds of operation take turns in every round, so that what disturbs one disturbs all.
func (p *plan) measure() error {
	kinds, times := p.kinds(), map[string][]float64{}
	for range p.rounds {
		for _, kind := range kinds {
			took, err := kind.run(kind.times)
			if err != nil {
				return fmt.Errorf("%s: %w", kind.name, err)
			}
			times[kind.name] = append(times[kind.name], float64(took.Nanoseconds())/float64(max(kind.times, 1)))
		}
	}
	figures := map[string]figure{}
	for name, each := range times {
		figures[name] = figureOf(each)
	}
	report.Line(figures)
	return nil
}

func figureOf(times []float64) figure {
	slices.Sort(times)
	return figure{Median: times[len(times)/2], Least: times[0]}
}
