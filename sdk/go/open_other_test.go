//go:build !linux || svc_nonlinux

package secrets

import "testing"

// Other systems have no secret memory: whatever the variable says, the store is nil and there is no error.
func TestOpenElsewhere(t *testing.T) {
	for _, value := range append(storesOfVectors(t).InvalidDescriptors, "0", "3") {
		t.Setenv("SVC_SECRET_FD", value)
		if store, err := Open(); store != nil || err != nil {
			t.Errorf("SVC_SECRET_FD=%q: Open() = %v, %v, want a nil store", value, store, err)
		}
	}
}
