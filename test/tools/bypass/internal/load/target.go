package load

import (
	"flag"

	"svc.example/bypass/internal/accesspath"
	"svc.example/bypass/internal/kernel"
)

// target is what a single attempt reads.
type target struct {
	path, marker string
	pid, length  int
	address      uint64
}

func targetFlags(flags *flag.FlagSet) *target {
	t := &target{}
	flags.StringVar(&t.path, "path", "environ", "environ or mem")
	flags.StringVar(&t.marker, "marker", "", "what to look for")
	flags.IntVar(&t.pid, "pid", 0, "whose")
	flags.Uint64Var(&t.address, "address", 0, "for mem: where the marker lies")
	flags.IntVar(&t.length, "length", 64, "for mem: how many bytes")
	return t
}

// attempt is one open and read.
func (t *target) attempt() (outcome string) {
	var got []byte
	var err error
	if t.path == "mem" {
		got, err = kernel.ReadMemory(kernel.Proc(t.pid, "mem"), t.address, t.length)
	} else {
		got, err = kernel.ReadPath(kernel.Proc(t.pid, "environ"))
	}
	return accesspath.Judge(t.path, t.marker, got, err).Outcome
}
