package accesspath

import "svc.example/bypass/internal/kernel"

var environIOUring = Path{
	Name: "environ-io-uring", Title: "OPENAT and READ of an io_uring", Kind: toEnviron,
	walk: func(a *attempt) ([]byte, error) {
		ring, err := kernel.NewRing()
		if err != nil {
			return nil, unavailable("%w", err)
		}
		descriptor, err := ring.Open(kernel.Proc(a.victim.PID, "environ"))
		if err != nil {
			return nil, err
		}
		return ring.Read(descriptor)
	},
}
