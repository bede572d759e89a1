package ordinary

import "golang.org/x/sys/unix"

func calls() []check {
	return []check{
		{"kill 0", func(pid int) error { return unix.Kill(pid, 0) }},
		{"pidfd_open", openPidfd},
		{"pidfd_send_signal 0", signalPidfd},
		{"getpriority", func(pid int) error { return second(unix.Getpriority(unix.PRIO_PROCESS, pid)) }},
		{"getpgid", func(pid int) error { return second(unix.Getpgid(pid)) }},
		{"getsid", func(pid int) error { return second(unix.Getsid(pid)) }},
		{"sched_getaffinity", func(pid int) error { return unix.SchedGetaffinity(pid, &unix.CPUSet{}) }},
		{"prlimit", func(pid int) error { return unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &unix.Rlimit{}) }},
		{"prlimit of core", func(pid int) error { return unix.Prlimit(pid, unix.RLIMIT_CORE, nil, &unix.Rlimit{}) }},
	}
}

func second(_ int, err error) error { return err }

func openPidfd(pid int) error {
	descriptor, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	return unix.Close(descriptor)
}

func signalPidfd(pid int) error {
	descriptor, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(descriptor)
	return unix.PidfdSendSignal(descriptor, 0, nil, 0)
}
