//go:build linux

// Command hammer reads secrets as fast as it can while their writer rotates them, and counts what it has read.
// The values of A and B are `<number>:`, repeated; END=yes ends it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"svc.example/secrets"
)

const readers = 4

// counts is what the readers report. Outdated are reads during which two rotations happened: they do not count,
// but both keys are there in every generation.
type counts struct {
	Reads, Outdated, Changes, Mixed, Backwards, Missing int
}

func main() {
	word := switchWord()
	store, err := secrets.Open()
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	results := make([]counts, readers)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() { results[i] = read(store, word) })
	}
	group.Wait()
	var total counts
	for _, result := range results {
		total.add(result)
	}
	if err := json.NewEncoder(os.Stdout).Encode(total); err != nil {
		panic(err)
	}
}

// switchWord maps the descriptor once more, to see rotations without the store.
func switchWord() *uint64 {
	descriptor, err := strconv.Atoi(os.Getenv("SVC_SECRET_FD"))
	if err != nil {
		panic(err)
	}
	var status unix.Stat_t
	if err := unix.Fstat(descriptor, &status); err != nil {
		panic(err)
	}
	memory, err := unix.Mmap(descriptor, 0, int(status.Size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*uint64)(unsafe.Pointer(&memory[len(memory)-8]))
}

func read(store *secrets.Store, word *uint64) counts {
	var result counts
	last := 0
	for {
		before := atomic.LoadUint64(word) >> 32
		first, wholeA := parse(store.Get("A"))
		second, wholeB := parse(store.Get("B"))
		if !store.Has("A") || !store.Has("END") {
			result.Missing++
		}
		ended := store.Get("END") == "yes"
		if atomic.LoadUint64(word)>>32-before >= 2 {
			result.Outdated++
			continue
		}
		result.Reads += 2
		if !wholeA || !wholeB {
			result.Mixed++
		}
		if first < last || second < first {
			result.Backwards++
		}
		if second != last {
			result.Changes++
		}
		last = second
		if ended {
			return result
		}
	}
}

// parse returns the value's number, and whether all of the value is of it.
func parse(value string) (int, bool) {
	digits, _, _ := strings.Cut(value, ":")
	number, err := strconv.Atoi(digits)
	unit := digits + ":"
	whole := err == nil && len(value) == repeats(number)*len(unit)
	for rest := value; whole && rest != ""; rest = rest[len(unit):] {
		whole = strings.HasPrefix(rest, unit)
	}
	return number, whole
}

// repeats makes the length of a value depend on its generation.
func repeats(number int) int {
	return 1 + number%50
}

func (c *counts) add(other counts) {
	c.Reads += other.Reads
	c.Outdated += other.Outdated
	c.Changes += other.Changes
	c.Mixed += other.Mixed
	c.Backwards += other.Backwards
	c.Missing += other.Missing
}
