//go:build linux && !svc_nonlinux

package secrets

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const testSize = 4096

// writer is the wrapper's side of a real memfd_secret region.
type writer struct {
	descriptor int
	memory     []byte
}

func newWriter(t testing.TB, size int) *writer {
	t.Helper()
	descriptor, err := unix.MemfdSecret(unix.O_CLOEXEC)
	if err != nil {
		t.Fatal("memfd_secret: ", err)
	}
	if err := unix.Ftruncate(descriptor, int64(size)); err != nil {
		t.Fatal(err)
	}
	memory, err := unix.Mmap(descriptor, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = unix.Munmap(memory)
		_ = unix.Close(descriptor)
	})
	return &writer{descriptor, memory}
}

func writerWith(t testing.TB, entries [][2]string) *writer {
	t.Helper()
	w := newWriter(t, testSize)
	copy(w.memory, encoded(entries))
	return w
}

// writerOf has a region of the vectors.
func writerOf(t testing.TB, vector regionVector) *writer {
	t.Helper()
	w := newWriter(t, vector.Size)
	for _, part := range vector.Parts {
		copy(w.memory[part.At:], append([]byte(part.Text), unhex(t, part.Hex)...))
	}
	tail := unhex(t, vector.Tail)
	copy(w.memory[vector.Size-len(tail):], tail)
	return w
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	decoded, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// rotate puts the entries in force as the generation of that number.
func (w *writer) rotate(number int, entries [][2]string) {
	size := (len(w.memory) - wordLength) / 3 / wordLength * wordLength
	offset := number % 3 * size
	copy(w.memory[offset:offset+size], encoded(entries))
	word := binary.LittleEndian.AppendUint64(nil, uint64(number)<<32|uint64(offset))
	last := unsafe.Pointer(&w.memory[len(w.memory)-wordLength])
	atomic.StoreUint64((*uint64)(last), *(*uint64)(unsafe.Pointer(unsafe.SliceData(word))))
	gone := (number + 1) % 3 * size
	clear(w.memory[gone : gone+size])
}

func encoded(entries [][2]string) string {
	text := ""
	for _, entry := range entries {
		text += entry[0] + "=" + entry[1] + "\x00"
	}
	return text + "\x00"
}

// descriptorFor returns another descriptor of the region, for Open to close.
func (w *writer) descriptorFor(t testing.TB) int {
	t.Helper()
	descriptor, err := unix.Dup(w.descriptor)
	if err != nil {
		t.Fatal(err)
	}
	return descriptor
}

func (w *writer) open(t testing.TB) *Store {
	t.Helper()
	t.Setenv("SVC_SECRET_FD", strconv.Itoa(w.descriptorFor(t)))
	store, err := Open()
	if err != nil || store == nil {
		t.Fatalf("Open() = %v, %v", store, err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}
