package load

import (
	"flag"
	"time"

	"svc.example/bypass/internal/report"
)

type hammered struct {
	count
	// LongestGapMicros is between the starts of two attempts, so that a pause of the reader cannot hide anything.
	LongestGapMicros int64 `json:"longestGapMicros"`
}

// Hammer is `bypass hammer`: attempts at a rate until standard input closes or their number is reached.
func Hammer(arguments []string) error {
	flags := flag.NewFlagSet("hammer", flag.ExitOnError)
	target := targetFlags(flags)
	hertz := flags.Int("hz", 1000, "attempts a second")
	asFast := flags.Bool("as-fast", false, "no rate")
	spawn := flags.Bool("spawn", false, "a process of its own for each attempt")
	limit := flags.Int("count", 0, "end after so many attempts; 0: only when standard input closes")
	_ = flags.Parse(arguments)
	attempt, period := target.attempt, time.Second/time.Duration(max(*hertz, 1))
	if *spawn {
		attempt = target.attemptElsewhere
	}
	if *asFast {
		period = 0
	}
	report.Line(map[string]any{"ready": true})
	report.Line(hammer(attempt, period, *limit))
	return nil
}

func hammer(attempt func() string, period time.Duration, limit int) hammered {
	var result hammered
	closed := report.Closed()
	last := time.Now()
	for next := last; !closed.Load() && (limit == 0 || result.Attempts < limit); next = next.Add(period) {
		// What was missed is not made up for.
		if now := time.Now(); next.Before(now) {
			next = now
		}
		time.Sleep(time.Until(next))
		start := time.Now()
		result.LongestGapMicros = max(result.LongestGapMicros, start.Sub(last).Microseconds())
		last = start
		result.add(attempt())
	}
	return result
}
