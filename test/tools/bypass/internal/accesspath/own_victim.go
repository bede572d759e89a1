package accesspath

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/victim"
)

// ownVictim is a victim whose parent is this thread; it ends with it.
type ownVictim struct {
	command *exec.Cmd
	input   io.Writer
	output  *bufio.Reader
	facts   victim.Facts
}

type tracemeAnswer struct {
	Traceme string `json:"traceme"`
	TID     int    `json:"tid"`
}

func startVictim(marker string) (*ownVictim, error) {
	command := exec.Command("/proc/self/exe", "victim")
	command.Env = append([]string{victim.Variable + "=" + marker}, os.Environ()...)
	command.Stderr = os.Stderr
	command.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	own := &ownVictim{command: command, input: input, output: bufio.NewReader(output)}
	return own, own.read(&own.facts)
}

func (o *ownVictim) read(into any) error {
	line, err := o.output.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the victim ended early: %w", err)
	}
	return json.Unmarshal(line, into)
}

func (o *ownVictim) tell(command string) (answer tracemeAnswer, err error) {
	if _, err := io.WriteString(o.input, command+"\n"); err != nil {
		return answer, err
	}
	return answer, o.read(&answer)
}

// end reaps a traced thread too, without which the process does not go.
func (o *ownVictim) end() {
	_ = o.command.Process.Kill()
	for err := error(nil); err == nil || err == unix.EINTR; {
		_, err = unix.Wait4(-1, nil, unix.WALL, nil)
	}
}
