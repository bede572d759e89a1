//go:build !linux || svc_nonlinux

package secrets

// There is no secret memory here: reads fall back to the environment.
func open() (*Store, error) {
	return nil, nil
}
