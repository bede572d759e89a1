package secrets

import (
	"bytes"
	"runtime"
	"testing"
)

// Whoever writes the region cannot make its reader hold more than the names in it.
func TestWorstRegions(t *testing.T) {
	const size = 1 << 20
	filled := func(piece string) region {
		return bytes.Repeat([]byte(piece), size/len(piece))
	}
	for name, c := range map[string]struct {
		region region
		keys   int
	}{
		"records without a name":  {filled("=\x00"), 0},
		"records without a sign":  {filled("A\x00"), 0},
		"one key again and again": {filled("A=\x00="), 1},
		"no end":                  {filled("x"), 0},
		"one long value":          {append(region("A="), filled("x")...), 1},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		made := readIndex(c.region)
		runtime.ReadMemStats(&after)
		if len(made.keys) != c.keys {
			t.Errorf("%s: %d keys", name, len(made.keys))
		}
		if held := after.TotalAlloc - before.TotalAlloc; held > 8*size {
			t.Errorf("%s: %d bytes of memory", name, held)
		}
	}
}
