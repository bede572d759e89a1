package kernel

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	opOpenat   = 18
	opRead     = 22
	sqesOffset = 0x10000000
	getEvents  = 1
	ringLength = 4096
)

type sqOffsets struct {
	head, tail, mask, entries, flags, dropped, array, _ uint32
	_                                                   uint64
}

type cqOffsets struct {
	head, tail, mask, entries, overflow, cqes, flags, _ uint32
	_                                                   uint64
}

type uringParams struct {
	sqEntries, cqEntries, flags, cpu, idle, features, wq uint32
	_                                                    [3]uint32
	sq                                                   sqOffsets
	cq                                                   cqOffsets
}

type submission struct {
	opcode, flags byte
	priority      uint16
	descriptor    int32
	offset        uint64
	address       uint64
	length        uint32
	opFlags       uint32
	userData      uint64
	_             [3]uint64
}

type completion struct {
	userData uint64
	result   int32
	flags    uint32
}

// Ring is an io_uring that carries out one request at a time.
type Ring struct {
	descriptor int
	params     uringParams
	rings      []byte
	entry      *submission
}

// NewRing fails with ENOSYS or EPERM where io_uring is switched off.
func NewRing() (*Ring, error) {
	ring := &Ring{}
	descriptor, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&ring.params)), 0)
	if errno != 0 {
		return nil, fmt.Errorf("io_uring_setup: %w", errno)
	}
	ring.descriptor = int(descriptor)
	entries, err := ring.mmap(sqesOffset)
	if err != nil {
		return nil, err
	}
	ring.entry = (*submission)(unsafe.Pointer(&entries[0]))
	ring.rings, err = ring.mmap(0)
	return ring, err
}

func (r *Ring) mmap(offset int64) ([]byte, error) {
	memory, err := unix.Mmap(r.descriptor, offset, ringLength, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap of the ring: %w", err)
	}
	return memory, nil
}

func (r *Ring) word(offset uint32) *uint32 {
	return (*uint32)(unsafe.Pointer(&r.rings[offset]))
}

// Open opens a path for reading by OPENAT of the ring.
func (r *Ring) Open(path string) (int, error) {
	name := append([]byte(path), 0)
	defer runtime.KeepAlive(name)
	return r.carryOut("OPENAT", submission{opcode: opOpenat, descriptor: unix.AT_FDCWD,
		address: uint64(uintptr(unsafe.Pointer(&name[0]))), opFlags: unix.O_RDONLY | unix.O_CLOEXEC})
}

// Read reads the beginning of a file by READ of the ring.
func (r *Ring) Read(descriptor int) ([]byte, error) {
	buffer := make([]byte, portion)
	count, err := r.carryOut("READ", submission{opcode: opRead, descriptor: int32(descriptor),
		address: uint64(uintptr(unsafe.Pointer(&buffer[0]))), length: portion})
	return buffer[:max(count, 0)], err
}

func (r *Ring) carryOut(name string, request submission) (int, error) {
	*r.entry = request
	*r.word(r.params.sq.array) = 0
	atomic.AddUint32(r.word(r.params.sq.tail), 1)
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.descriptor), 1, 1, getEvents, 0, 0)
	if errno != 0 {
		return 0, fmt.Errorf("io_uring_enter: %w", errno)
	}
	head := r.word(r.params.cq.head)
	position := (atomic.LoadUint32(head) & *r.word(r.params.cq.mask)) * uint32(unsafe.Sizeof(completion{}))
	result := (*completion)(unsafe.Pointer(r.word(r.params.cq.cqes + position))).result
	atomic.AddUint32(head, 1)
	if result < 0 {
		return 0, fmt.Errorf("%s of io_uring: %w", name, unix.Errno(-result))
	}
	return int(result), nil
}
