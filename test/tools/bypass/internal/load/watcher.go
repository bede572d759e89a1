package load

import (
	"svc.example/bypass/internal/accesspath"
	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

// ahead is how many numbers beyond the last one given out are tried too, to be there before the process is.
const ahead = 2

// behind is how many of the numbers seen in earlier rounds are tried again: the kernel counts one before its process is there.
const behind = 8

type watcher struct {
	family *family
	marker string
	result *count
	tell   bool
	// last is the newest number of the last round, and before the first one of when the watch began.
	last int
}

// round tries all living descendants, and every number given out since the last round.
func (w *watcher) round() {
	newest := kernel.NewestPID()
	for pid := max(1, w.last+1-behind); pid <= newest+ahead; pid++ {
		w.try(pid)
	}
	w.last = newest
	for _, pid := range w.family.living() {
		w.try(pid)
	}
}

// try reads first and asks for the parent afterwards, for the first moment would be over by then.
func (w *watcher) try(pid int) {
	target := target{path: "environ", marker: w.marker, pid: pid}
	outcome := target.attempt()
	if !w.family.has(pid) {
		return
	}
	w.result.add(outcome)
	if w.tell && outcome == accesspath.Leaked {
		report.Line(map[string]any{"leaked": pid})
	}
}
