package accesspath

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var mapFiles = Path{
	Name: "map-files", Title: "a mapped memory file through /proc/P/map_files", Kind: toDescriptor,
	walk: func(a *attempt) ([]byte, error) {
		folder := kernel.Proc(a.victim.PID, "map_files")
		ranges, err := os.ReadDir(folder)
		if errors.Is(err, unix.ENOENT) {
			return nil, unavailable("%w", err)
		}
		if err != nil {
			return nil, err
		}
		var failures error
		for _, each := range ranges {
			got, err := kernel.ReadMemory(fmt.Sprintf("%s/%s", folder, each.Name()), 0, a.victim.Length)
			if bytes.Contains(got, []byte(a.marker)) {
				return got, nil
			}
			failures = errors.Join(failures, err)
		}
		return nil, failures
	},
}
