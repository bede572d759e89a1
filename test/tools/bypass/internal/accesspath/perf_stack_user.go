package accesspath

import (
	"bytes"
	"errors"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var perfStackUser = Path{
	Name: "perf-stack-user", Title: "perf_event_open with the user stack of TID2", Kind: toStack,
	walk: func(a *attempt) ([]byte, error) {
		sampler, err := kernel.SampleStacks(a.victim.TID2)
		if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOENT) {
			return nil, unavailable("%w", err)
		}
		if err != nil {
			return nil, err
		}
		stack, samples := sampler.Collect(a.marker)
		if samples > 0 && !bytes.Contains(stack, []byte(a.marker)) {
			return nil, leadsTo("%d samples of the stack, none with the marker", samples)
		}
		return stack, nil
	},
}
