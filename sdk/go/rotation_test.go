//go:build linux && !svc_nonlinux

package secrets

import (
	"strconv"
	"sync"
	"testing"
)

func TestEveryRotationIsSeenAtTheNextRead(t *testing.T) {
	w := newWriter(t, testSize)
	store := w.open(t)
	if keys := store.Keys(); len(keys) != 0 || keys == nil {
		t.Errorf("Keys() = %#v, want an empty list", keys)
	}
	held := ""
	for number := 1; number <= 20; number++ {
		text := strconv.Itoa(number)
		w.rotate(number, [][2]string{{"A", text}, {"K" + text, ""}})
		if number > 1 && held != strconv.Itoa(number-1) {
			t.Errorf("the value of generation %d is %q after one rotation", number-1, held)
		}
		held = store.Get("A")
		if held != text || !store.Has("K"+text) || store.Has("K"+strconv.Itoa(number-1)) {
			t.Errorf("generation %d: A = %q, keys %q", number, held, store.Keys())
		}
	}
}

// The race detector watches this one.
func TestConcurrentUse(t *testing.T) {
	w := writerWith(t, [][2]string{{"A", "0"}})
	store := w.open(t)
	var users sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		users.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					store.Get("A")
					store.Has("A")
					store.Keys()
				}
			}
		})
	}
	for number := 1; number <= 2000; number++ {
		w.rotate(number, [][2]string{{"A", strconv.Itoa(number)}})
	}
	for range 2 {
		users.Go(func() { _ = store.Close() })
	}
	close(stop)
	users.Wait()
	if store.Get("A") != "" {
		t.Error("A closed store has a value")
	}
}
