package load

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"

	"svc.example/bypass/internal/kernel"
)

const parentField = 1

// family is a process's descendants, as far as they were seen.
type family struct {
	ancestor int
	mutex    sync.Mutex
	alive    map[int]bool
	seen     map[int]bool
}

func newFamily(ancestor int) *family {
	family := &family{ancestor: ancestor, alive: map[int]bool{}, seen: map[int]bool{}}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			family.has(pid)
		}
	}
	return family
}

func (f *family) living() []int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return slices.Collect(maps.Keys(f.alive))
}

func (f *family) size() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return len(f.seen)
}

// has looks at the process's parents as they are now, and remembers whom it found.
func (f *family) has(pid int) bool {
	fields, err := kernel.Stat(kernel.Proc(pid, "stat"))
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if err != nil {
		was := f.alive[pid]
		delete(f.alive, pid)
		return was
	}
	parent := int(kernel.Number(fields[parentField]))
	if parent == f.ancestor || f.alive[parent] {
		f.alive[pid] = true
		f.seen[pid] = true
	}
	return f.alive[pid]
}
