package secrets

import (
	"bytes"
	"strings"
)

// index knows the secrets of one generation. It is not changed once it is made.
type index struct {
	generation
	keys   []string
	values map[string]string // the values lie in the region
}

// readIndex looks through the generation in force, again if that was overwritten meanwhile.
func readIndex(r region) *index {
	for {
		made := &index{generation: r.current(), values: map[string]string{}}
		made.scan(r)
		if !r.outdated(made.generation) {
			return made
		}
	}
}

// scan passes over records without a name or without "=". Of a repeated key the last value counts.
func (x *index) scan(r region) {
	for at := x.start; at < x.end; {
		stop := find(r, 0, at, x.end)
		if stop == at {
			return
		}
		if sign := find(r, '=', at, stop); sign > at && sign < stop {
			x.add(strings.Clone(r.text(at, sign)), r.text(sign+1, stop))
		}
		at = stop + 1
	}
}

func (x *index) add(key, value string) {
	if _, known := x.values[key]; !known {
		x.keys = append(x.keys, key)
	}
	x.values[key] = value
}

func find(r region, char byte, start, end int) int {
	if found := bytes.IndexByte(r[start:end], char); found >= 0 {
		return start + found
	}
	return end
}
