package ordinary

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

var kinds = []string{"mnt", "net", "pid", "uts", "ipc", "user", "cgroup"}

// ownUser is the one that nobody may enter who is in it already.
const ownUser = "user"

func namespaces() []check {
	var all []check
	for _, kind := range kinds {
		name := "ns/" + kind
		all = append(all,
			check{"readlink " + name, func(pid int) error { return readLink(kernel.Proc(pid, name)) }},
			check{"open " + name, func(pid int) error { return withOpen(kernel.Proc(pid, name), nil) }},
		)
		if kind != ownUser {
			all = append(all, check{"setns " + name, func(pid int) error {
				return withOpen(kernel.Proc(pid, name), enter)
			}})
		}
	}
	return all
}

func withOpen(path string, use func(descriptor int) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if use == nil {
		return nil
	}
	return use(int(file.Fd()))
}

// enter does it on a thread that ends with it.
func enter(descriptor int) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- enterHere(descriptor)
	}()
	return <-result
}

// enterHere gives the thread a working directory of its own first, which mount namespaces ask for.
func enterHere(descriptor int) error {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Setns(descriptor, 0); err != nil {
		return fmt.Errorf("setns: %w", err)
	}
	return nil
}
