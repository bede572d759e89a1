package accesspath

import (
	"errors"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var devMem = Path{
	Name: "dev-mem", Title: "/dev/mem, physical memory", Kind: toKernel,
	walk: func(*attempt) ([]byte, error) { return nil, readDevice("/dev/mem") },
}

var devKmem = Path{
	Name: "dev-kmem", Title: "/dev/kmem, the kernel's memory", Kind: toKernel,
	walk: func(*attempt) ([]byte, error) { return nil, readDevice("/dev/kmem") },
}

// readDevice counts any read as a leak: kernels built with STRICT_DEVMEM keep the victim's page from everybody.
func readDevice(path string) error {
	got, err := kernel.ReadMemory(path, 0, unix.Getpagesize())
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) {
		return unavailable("%w", err)
	}
	if err != nil {
		return err
	}
	return leadsTo("%d bytes of low physical memory, which holds no marker", len(got))
}
