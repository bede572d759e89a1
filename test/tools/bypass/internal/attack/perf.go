package attack

import (
	"flag"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/report"
)

const someRegisters = 0xff

// perf opens an event of that kind and says whether the kernel let it.
func perf(arguments []string) error {
	flags := flag.NewFlagSet("perf", flag.ExitOnError)
	kind := flags.String("kind", "", "what is sampled")
	pid := flags.Int("pid", 0, "whose; 0: the caller's")
	absent := flags.Bool("absent", false, "the attributes are in a page that is not present")
	_ = flags.Parse(arguments)
	attributes, known := kinds[*kind]
	if !known {
		return fmt.Errorf("no such kind: %q", *kind)
	}
	attributes.Type, attributes.Config = unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK
	attributes.Size = uint32(unsafe.Sizeof(attributes))
	at := unsafe.Pointer(&attributes)
	if *absent {
		page, err := notPresent(attributes)
		if err != nil {
			return err
		}
		at = unsafe.Pointer(&page[0])
	}
	anyProcessor, noGroup := -1, -1
	_, _, errno := unix.Syscall6(unix.SYS_PERF_EVENT_OPEN, uintptr(at), uintptr(*pid), uintptr(anyProcessor),
		uintptr(noGroup), unix.PERF_FLAG_FD_CLOEXEC, 0)
	if errno != 0 {
		tell(errno)
		return nil
	}
	report.Line(answer{Done: true})
	return nil
}

const memory = unix.PERF_SAMPLE_STACK_USER | unix.PERF_SAMPLE_REGS_USER

var kinds = map[string]unix.PerfEventAttr{
	"stack": {Sample: 1_000_000, Sample_type: memory, Sample_stack_user: 8192, Sample_regs_user: someRegisters},
	// What is opened now samples the children of later, whatever they execute.
	"inherited": {Sample: 1_000_000, Sample_type: memory, Sample_stack_user: 8192,
		Sample_regs_user: someRegisters, Bits: unix.PerfBitInherit},
	"registers": {Sample: 1_000_000, Sample_type: unix.PERF_SAMPLE_REGS_INTR, Sample_regs_intr: someRegisters},
	"places":    {Sample: 1_000_000, Sample_type: unix.PERF_SAMPLE_IP | unix.PERF_SAMPLE_TIME},
	"count":     {},
}

// notPresent keeps the attributes where this process has never looked.
func notPresent(attributes unix.PerfEventAttr) ([]byte, error) {
	descriptor, err := unix.MemfdCreate("attributes", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	size := int(unsafe.Sizeof(attributes))
	content := make([]byte, unix.Getpagesize())
	copy(content, unsafe.Slice((*byte)(unsafe.Pointer(&attributes)), size))
	if _, err := unix.Write(descriptor, content); err != nil {
		return nil, err
	}
	return unix.Mmap(descriptor, 0, len(content), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}
