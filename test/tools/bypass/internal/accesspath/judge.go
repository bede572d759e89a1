package accesspath

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// The outcomes of an attempt.
const (
	Leaked      = "leaked"
	Denied      = "denied"
	Failed      = "failed"
	Unavailable = "unavailable"
)

// Result is what `bypass try` prints.
type Result struct {
	Path    string `json:"path"`
	Outcome string `json:"outcome"`
	Errno   string `json:"errno,omitempty"`
	Detail  string `json:"detail"`
}

// lacking says that this kernel or machine has no such path.
type lacking struct{ error }

func (l lacking) Unwrap() error { return l.error }

func unavailable(format string, values ...any) error {
	return lacking{fmt.Errorf(format, values...)}
}

// reached says that the path led to its end, where the marker itself is not to be expected.
type reached struct{ error }

func leadsTo(format string, values ...any) error {
	return reached{fmt.Errorf(format, values...)}
}

// Judge tells what came of an attempt that got those bytes.
func Judge(path, marker string, got []byte, err error) Result {
	result := Result{Path: path, Outcome: outcome(marker, got, err)}
	var errno unix.Errno
	if errors.As(err, &errno) {
		result.Errno = unix.ErrnoName(errno)
	}
	result.Detail = fmt.Sprintf("%d bytes", len(got))
	if err != nil {
		result.Detail = err.Error()
	}
	return result
}

func outcome(marker string, got []byte, err error) string {
	var missing lacking
	var end reached
	switch {
	case marker != "" && bytes.Contains(got, []byte(marker)), errors.As(err, &end):
		return Leaked
	case errors.As(err, &missing):
		return Unavailable
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return Denied
	default:
		return Failed
	}
}
