//go:build linux && !svc_nonlinux

package secrets

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// mappings returns the address ranges of read-only shared mappings of secret memory.
func mappings(t *testing.T) [][2]uintptr {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	var found [][2]uintptr
	for line := range strings.Lines(string(maps)) {
		var start, end uintptr
		var access string
		if !strings.Contains(line, "/secretmem") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x %s", &start, &end, &access); err != nil {
			t.Fatal(err)
		}
		if access == "r--s" {
			found = append(found, [2]uintptr{start, end})
		}
	}
	return found
}

func within(value string, pages [2]uintptr) bool {
	start := uintptr(unsafe.Pointer(unsafe.StringData(value)))
	return start >= pages[0] && start+uintptr(len(value)) <= pages[1]
}

func TestValuesPointIntoTheMappedPages(t *testing.T) {
	w := writerWith(t, [][2]string{{"A", "first"}, {"B", "second"}})
	store := w.open(t)
	pages := mappings(t)
	if len(pages) != 1 {
		t.Fatalf("%d read-only mappings, want 1", len(pages))
	}
	for number := 1; number <= 4; number++ {
		for _, key := range store.Keys() {
			if !within(store.Get(key), pages[0]) || !within(store.MustGet(key), pages[0]) {
				t.Errorf("the value of %s lies outside the pages", key)
			}
			if within(key, pages[0]) {
				t.Errorf("the name %s lies in pages that a rotation overwrites", key)
			}
		}
		w.rotate(number, [][2]string{{"A", "renewed"}, {"B", "too"}})
	}
}

var sink string

func TestReadsDoNotAllocate(t *testing.T) {
	t.Setenv("ONLY_ENV", "environment")
	store := writerWith(t, [][2]string{{"A", strings.Repeat("x", 1000)}}).open(t)
	for _, key := range []string{"A", "ONLY_ENV", "NOWHERE"} {
		if allocs := testing.AllocsPerRun(1000, func() { sink = store.Get(key) }); allocs != 0 {
			t.Errorf("Get(%q) allocates %v times", key, allocs)
		}
		if allocs := testing.AllocsPerRun(1000, func() { store.Has(key) }); allocs != 0 {
			t.Errorf("Has(%q) allocates %v times", key, allocs)
		}
	}
	if allocs := testing.AllocsPerRun(1000, func() { sink = store.MustGet("A") }); allocs != 0 {
		t.Errorf("MustGet allocates %v times", allocs)
	}
}

func TestCloseUnmapsAndAHeldValueBecomesZeros(t *testing.T) {
	store := writerWith(t, [][2]string{{"A", "secret"}}).open(t)
	held := store.Get("A")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if left := mappings(t); len(left) != 0 {
		t.Errorf("%d mappings of secret memory are left", len(left))
	}
	if held != "\x00\x00\x00\x00\x00\x00" {
		t.Errorf("the held value is %q", held)
	}
}

func BenchmarkGet(b *testing.B) {
	store := writerWith(b, [][2]string{{"A", "secret"}}).open(b)
	b.ReportAllocs()
	for b.Loop() {
		sink = store.Get("A")
	}
}
