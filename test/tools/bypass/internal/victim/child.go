package victim

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// startChild executes another victim, which inherits the environment and ends with the calling thread.
func startChild() (Facts, error) {
	command := exec.Command("/proc/self/exe", "victim")
	command.Stderr = os.Stderr
	command.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	// Kept open for good: the child lives until it is closed.
	if _, err := command.StdinPipe(); err != nil {
		return Facts{}, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return Facts{}, err
	}
	if err := command.Start(); err != nil {
		return Facts{}, err
	}
	return readFacts(bufio.NewReader(output))
}

func readFacts(output *bufio.Reader) (Facts, error) {
	var facts Facts
	line, err := output.ReadBytes('\n')
	if err != nil {
		return facts, err
	}
	return facts, json.Unmarshal(line, &facts)
}
