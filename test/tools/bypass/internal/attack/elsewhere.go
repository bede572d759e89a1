package attack

import (
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// elsewhere is an attack of a process of its own, which ends with the calling thread.
func elsewhere(arguments ...string) *exec.Cmd {
	command := exec.Command("/proc/self/exe", append([]string{"attack"}, arguments...)...)
	command.Stderr = os.Stderr
	command.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	return command
}
