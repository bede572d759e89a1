package report

import "sync/atomic"

// Closed tells from now on, without blocking, whether standard input is closed. Nothing else may read it then.
func Closed() *atomic.Bool {
	var closed atomic.Bool
	go func() {
		AwaitClose()
		closed.Store(true)
	}()
	return &closed
}
