package accesspath

import (
	"errors"
	"io/fs"
	"os"

	"svc.example/bypass/internal/kernel"
)

var kcore = Path{
	Name: "kcore", Title: "the victim's page in /proc/kcore, found by pagemap", Kind: toKernel,
	walk: func(a *attempt) ([]byte, error) {
		file, err := os.Open("/proc/kcore")
		if errors.Is(err, fs.ErrNotExist) {
			return nil, unavailable("%w", err)
		}
		if err != nil {
			return nil, err
		}
		defer file.Close()
		physical, err := kernel.PhysicalAddress(a.victim.PID, a.victim.Address)
		if err != nil {
			return nil, err
		}
		return kernel.ReadKernelImage(file, physical, a.victim.Length)
	},
}
