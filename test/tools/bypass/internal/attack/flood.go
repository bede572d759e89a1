package attack

import (
	"flag"
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

// flood has processes without rights make so many attempts each, as fast as they can.
func flood(arguments []string) error {
	flags := flag.NewFlagSet("flood", flag.ExitOnError)
	pid := flags.Int("pid", 0, "on whom")
	path := flags.String("path", "process-vm", "process-vm, or environ")
	flooders := flags.Int("flooders", 2, "how many")
	each := flags.Int("each", 0, "attempts of each")
	user := flags.Uint("user", 65534, "as whom")
	_ = flags.Parse(arguments)
	var all []*exec.Cmd
	for range *flooders {
		one := elsewhere("flood-one", *path, strconv.Itoa(*pid), strconv.Itoa(*each))
		one.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(*user), Gid: uint32(*user)}
		if err := one.Start(); err != nil {
			return err
		}
		all = append(all, one)
	}
	for _, one := range all {
		if err := one.Wait(); err != nil {
			return err
		}
	}
	report.Line(map[string]int{"attempts": *flooders * *each})
	return nil
}

func floodOne(arguments []string) error {
	pid := kernel.Number(arguments[1])
	path, err := unix.BytePtrFromString(kernel.Proc(int(pid), "environ"))
	if err != nil {
		return err
	}
	for range kernel.Number(arguments[2]) {
		if arguments[0] == "environ" {
			readRaw(path, nil)
		} else {
			askForMemory(uintptr(pid))
		}
	}
	return nil
}

// askForMemory wants what is mapped nowhere: it is the question that counts.
func askForMemory(pid uintptr) {
	var got [8]byte
	local := unix.Iovec{Base: &got[0], Len: uint64(len(got))}
	remote := unix.RemoteIovec{Base: 16, Len: len(got)}
	unix.RawSyscall6(unix.SYS_PROCESS_VM_READV, pid, uintptr(unsafe.Pointer(&local)), 1,
		uintptr(unsafe.Pointer(&remote)), 1, 0)
}
