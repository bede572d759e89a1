package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	perfPages    = 64
	perfStack    = 8192
	perfPeriod   = 50_000 // ns of the thread's time
	perfWait     = 5 * time.Second
	recordHeader = 8
)

// Sampler gets copies of a thread's user stack from perf.
type Sampler struct{ ring []byte }

// SampleStacks asks perf for the user stack of that thread, on every CPU.
func SampleStacks(tid int) (*Sampler, error) {
	attributes := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Sample: perfPeriod,
		Size:              uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Sample_type:       unix.PERF_SAMPLE_REGS_USER | unix.PERF_SAMPLE_STACK_USER,
		Sample_regs_user:  stackPointer,
		Sample_stack_user: perfStack,
	}
	descriptor, err := unix.PerfEventOpen(&attributes, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("perf_event_open: %w", err)
	}
	length := (1 + perfPages) * unix.Getpagesize()
	ring, err := unix.Mmap(descriptor, 0, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap of the samples: %w", err)
	}
	return &Sampler{ring}, nil
}

// Collect waits for samples with the marker, and otherwise yields the last stack that came.
func (s *Sampler) Collect(marker string) (stack []byte, samples int) {
	for until := time.Now().Add(perfWait); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		for record := s.next(); record != nil; record = s.next() {
			if part := userStack(record); len(part) > 0 {
				stack, samples = part, samples+1
			}
			if bytes.Contains(stack, []byte(marker)) {
				return stack, samples
			}
		}
	}
	return stack, samples
}

func (s *Sampler) page() *unix.PerfEventMmapPage {
	return (*unix.PerfEventMmapPage)(unsafe.Pointer(&s.ring[0]))
}

// next is a copy of the next record, nil where there is none.
func (s *Sampler) next() []byte {
	page, data := s.page(), s.ring[unix.Getpagesize():]
	tail := page.Data_tail
	if atomic.LoadUint64(&page.Data_head) == tail {
		return nil
	}
	at := func(index uint64) byte { return data[(tail+index)%uint64(len(data))] }
	record := make([]byte, uint64(at(6))|uint64(at(7))<<8)
	for index := range record {
		record[index] = at(uint64(index))
	}
	atomic.StoreUint64(&page.Data_tail, tail+uint64(len(record)))
	return record
}

// userStack is what a sample holds of the stack: after the header the registers' ABI, one register unless that is
// 0, the size, the bytes, and how many of them count.
func userStack(record []byte) []byte {
	order := binary.NativeEndian
	if order.Uint32(record) != unix.PERF_RECORD_SAMPLE {
		return nil
	}
	rest := record[recordHeader:]
	if order.Uint64(rest) != 0 {
		rest = rest[8:]
	}
	size := order.Uint64(rest[8:])
	if size == 0 {
		return nil
	}
	counted := order.Uint64(rest[16+size:])
	return rest[16 : 16+counted]
}
