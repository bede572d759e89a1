package load

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"

	"golang.org/x/sys/unix"
)

const (
	// keep is how many descriptors of each file are held on to.
	keep = 8
	// portion is how much of the memory is read at a time; the environment lies in the last ones of the stack.
	portion  = 16 << 10
	lookAnew = 64
)

// prey is a process whose environment and memory are read by fresh descriptors and by those that once were granted.
type prey struct {
	pid, turns   int
	threads      []int
	marker       string
	held         map[string][]int
	ranges       [][2]uint64
	stackEnd     uint64
	denied, lost int
}

// success is told at once: the next attempt may be the reader's end.
type success struct {
	PID    int     `json:"pid"`
	Way    string  `json:"way"`
	At     float64 `json:"at"`
	Leaked bool    `json:"leaked"`
}

func newPrey(pid int, marker string) *prey {
	return &prey{pid: pid, marker: marker, held: map[string][]int{}}
}

// turn is one attempt on each way.
func (p *prey) turn() {
	if p.turns%lookAnew == 0 {
		p.look()
	}
	p.turns++
	for _, file := range []string{"environ", "mem"} {
		p.fresh(file)
		if held := p.held[file]; len(held) > 0 {
			p.read("held-"+file, file, held[p.turns%len(held)])
		}
	}
}

func (p *prey) fresh(file string) {
	descriptor, err := unix.Open(kernel.Proc(p.number(), file), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		p.note(err)
		return
	}
	p.read(file, file, descriptor)
	held := p.held[file]
	if len(held) < keep {
		p.held[file] = append(held, descriptor)
		return
	}
	// A process that has executed something has another memory than before.
	oldest := rand.IntN(keep)
	unix.Close(held[oldest])
	held[oldest] = descriptor
}

// number is the process's own and those of its threads by turns: all lead to the same memory.
func (p *prey) number() int {
	if p.turns%2 == 0 || len(p.threads) == 0 {
		return p.pid
	}
	return p.threads[rand.IntN(len(p.threads))]
}

func (p *prey) read(way, file string, descriptor int) {
	offset := uint64(0)
	if file == "mem" {
		offset = p.place()
	}
	at := float64(time.Now().UnixMicro()) / 1000
	got, err := kernel.ReadAt(descriptor, offset, portion)
	if err != nil || len(got) == 0 {
		p.note(err)
		return
	}
	leaked := bytes.Contains(got, []byte(p.marker))
	report.Line(success{PID: p.pid, Way: way, At: at, Leaked: leaked})
}

func (p *prey) note(err error) {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		p.denied++
		return
	}
	p.lost++
}

// place is the end of the stack and anything else that can be written, by turns.
func (p *prey) place() uint64 {
	if p.turns%2 == 0 || len(p.ranges) == 0 {
		return p.stackEnd - portion
	}
	chosen := p.ranges[rand.IntN(len(p.ranges))]
	portions := max((chosen[1]-chosen[0])/portion, 1)
	return chosen[0] + rand.Uint64N(portions)*portion
}

// look reads the names of the threads and the map of the memory, which are not kept from anybody.
func (p *prey) look() {
	p.threads = threadsOf(p.pid)
	text, err := kernel.ReadPath(kernel.Proc(p.pid, "maps"))
	if err != nil {
		return
	}
	p.ranges = p.ranges[:0]
	for line := range strings.Lines(string(text)) {
		addresses, rest, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(rest, "rw") {
			continue
		}
		from, to, _ := strings.Cut(addresses, "-")
		p.ranges = append(p.ranges, [2]uint64{kernel.Hexadecimal(from), kernel.Hexadecimal(to)})
		if strings.Contains(rest, "[stack]") {
			p.stackEnd = kernel.Hexadecimal(to)
		}
	}
}

func threadsOf(pid int) (threads []int) {
	entries, _ := os.ReadDir(kernel.Proc(pid, "task"))
	for _, entry := range entries {
		if number, err := strconv.Atoi(entry.Name()); err == nil {
			threads = append(threads, number)
		}
	}
	return threads
}

// isProcess is false of a thread, whose number leads to its files too.
func isProcess(number int) bool {
	status, err := kernel.ReadPath(kernel.Proc(number, "status"))
	return err == nil && bytes.Contains(status, fmt.Appendf(nil, "\nTgid:\t%d\n", number))
}
