package ordinary

import (
	"os"
	"path/filepath"

	"svc.example/bypass/internal/kernel"
)

var readable = []string{
	"status", "stat", "statm", "cgroup", "io", "limits", "cmdline", "comm", "oom_score", "oom_score_adj", "wchan",
	"sched", "schedstat", "mountinfo", "mounts", "maps", "smaps", "smaps_rollup", "auxv", "fdinfo/0", "net/dev",
	"uid_map", "loginuid", "coredump_filter",
}

func files() []check {
	var all []check
	for _, name := range readable {
		all = append(all, check{"read " + name, func(pid int) error {
			_, err := kernel.ReadPath(kernel.Proc(pid, name))
			return err
		}})
	}
	return all
}

func links() []check {
	var all []check
	for _, name := range []string{"exe", "cwd", "root"} {
		all = append(all, check{"readlink " + name, func(pid int) error {
			_, err := os.Readlink(kernel.Proc(pid, name))
			return err
		}})
	}
	return all
}

func listings() []check {
	return []check{
		{"list task", func(pid int) error { return each(kernel.Proc(pid, "task"), readStatus) }},
		{"list fd", func(pid int) error { return each(kernel.Proc(pid, "fd"), readLink) }},
		{"list root", func(pid int) error { return each(kernel.Proc(pid, "root/"), nothing) }},
	}
}

func each(folder string, visit func(path string) error) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := visit(filepath.Join(folder, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

func readStatus(path string) error {
	_, err := kernel.ReadPath(path + "/status")
	return err
}

func readLink(path string) error {
	_, err := os.Readlink(path)
	return err
}

func nothing(string) error { return nil }
