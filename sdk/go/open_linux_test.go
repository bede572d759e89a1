//go:build linux && !svc_nonlinux

package secrets

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

type regionVector struct {
	Name  string
	Size  int
	Parts []struct {
		At        int
		Text, Hex string
	}
	Tail   string
	Number uint32
	Start  int
	Values [][2]string
}

func TestStoresOfVectors(t *testing.T) {
	for _, vector := range storesOfVectors(t).Stores {
		if vector.Entries != nil {
			t.Run(vector.Name, func(t *testing.T) { checkStore(t, vector) })
		}
	}
}

func checkStore(t *testing.T, vector storeVector) {
	for name, value := range vector.Environment {
		t.Setenv(name, value)
	}
	store := writerWith(t, *vector.Entries).open(t)
	if vector.Closed && store.Close() != nil {
		t.Error("Close failed")
	}
	checkCalls(t, store, vector.Calls)
	for range 2 {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRegionsOfVectors(t *testing.T) {
	var vectors struct{ Regions []regionVector }
	readVectors(t, "secret-records.json", &vectors)
	for _, vector := range vectors.Regions {
		t.Run(vector.Name, func(t *testing.T) { checkRegion(t, vector) })
	}
}

func checkRegion(t *testing.T, vector regionVector) {
	store := writerOf(t, vector).open(t)
	if found := store.index.generation; found.number != vector.Number || found.start != vector.Start {
		t.Errorf("generation %d at %d, want %d at %d", found.number, found.start, vector.Number, vector.Start)
	}
	keys := store.Keys()
	if len(keys) != len(vector.Values) {
		t.Fatalf("Keys() = %q, want %d", keys, len(vector.Values))
	}
	for i, pair := range vector.Values {
		if value := store.Get(pair[0]); keys[i] != pair[0] || value != string(unhex(t, pair[1])) {
			t.Errorf("%d: %q = %q, want %q = %s", i, keys[i], value, pair[0], pair[1])
		}
	}
}

func TestInvalidDescriptors(t *testing.T) {
	for _, value := range storesOfVectors(t).InvalidDescriptors {
		checkRefused(t, value)
	}
}

func checkRefused(t *testing.T, value string) error {
	t.Helper()
	t.Setenv("SVC_SECRET_FD", value)
	store, err := Open()
	if store != nil || err == nil {
		t.Fatalf("SVC_SECRET_FD=%q: Open() = %v, %v, want an error", value, store, err)
	}
	if text := err.Error(); !strings.Contains(text, "SVC_SECRET_FD=") || !strings.Contains(text, "svc-wrapper") {
		t.Errorf("SVC_SECRET_FD=%q: %q lacks the variable or the next step", value, text)
	}
	return err
}

// A file that goes by the name of secret memory is none.
func TestOtherDescriptorsAreRefusedAndStayOpen(t *testing.T) {
	impostor, err := os.Create(filepath.Join(t.TempDir(), "secretmem"))
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []*os.File{impostor, reader, writer} {
		if err := checkRefused(t, strconv.Itoa(int(file.Fd()))); !errors.Is(err, errNotSecret) {
			t.Errorf("%s: %v", file.Name(), err)
		}
		if err := file.Close(); err != nil {
			t.Errorf("%s was closed: %v", file.Name(), err)
		}
	}
}

func TestSecretMemoryWithoutASizeIsRefused(t *testing.T) {
	descriptor, err := unix.MemfdSecret(unix.O_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkRefused(t, strconv.Itoa(descriptor)); !errors.Is(err, errEmpty) {
		t.Error(err)
	}
	_ = unix.Close(descriptor)
}

func TestDescriptorIsClosedAndTheMappingStays(t *testing.T) {
	store := writerWith(t, [][2]string{{"A", "one"}}).open(t)
	descriptor := os.Getenv("SVC_SECRET_FD")
	if number, _ := strconv.Atoi(descriptor); unix.Fstat(number, &unix.Stat_t{}) == nil {
		t.Error("The descriptor is still open")
	}
	if value := store.Get("A"); value != "one" {
		t.Errorf("Get = %q", value)
	}
	if err := checkRefused(t, descriptor); !errors.Is(err, unix.EBADF) {
		t.Error(err)
	}
}

func TestRefusedMappingNamesTheLimit(t *testing.T) {
	w := newWriter(t, testSize)
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 0, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_MEMLOCK, &before) })
	refused := make(chan error)
	go func() {
		runtime.LockOSThread() // a thread that has lost its capabilities ends with its goroutine
		if err := dropCapabilities(); err != nil {
			refused <- err
			return
		}
		_, err := mapSecret(w.descriptor)
		refused <- err
	}()
	err := <-refused
	if !errors.Is(err, unix.EAGAIN) || !strings.Contains(err.Error(), "memory-lock limit") {
		t.Error(err)
	}
}

func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}
