package victim

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// keepInMemory puts the marker into memory of its own, which never moves.
func keepInMemory(marker string) (uint64, error) {
	page, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return 0, err
	}
	copy(page, marker)
	return uint64(uintptr(unsafe.Pointer(&page[0]))), nil
}

// keepInDescriptor puts the marker into a memory file, which is mapped too.
func keepInDescriptor(marker string) (int, error) {
	descriptor, err := unix.MemfdCreate("bypass", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, err
	}
	if _, err := unix.Write(descriptor, []byte(marker)); err != nil {
		return 0, err
	}
	_, err = unix.Mmap(descriptor, 0, unix.Getpagesize(), unix.PROT_READ, unix.MAP_SHARED)
	return descriptor, err
}
