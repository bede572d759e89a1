package accesspath

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

const (
	// given is the number of the first descriptor beyond the standard ones.
	given   = 3
	holding = "holding\n"
)

// holder is another process, which reads the environ that it was given once it gets a line.
type holder struct {
	command *exec.Cmd
	input   io.Writer
	output  *bufio.Reader
}

func startHolder(mode string, file *os.File) (*holder, error) {
	command := exec.Command("/proc/self/exe", "hold", mode)
	command.ExtraFiles = []*os.File{file}
	command.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &holder{command, input, bufio.NewReader(output)}, command.Start()
}

// readAfter waits until it holds the descriptor, arms, and has it read.
func (h *holder) readAfter(a *attempt) ([]byte, error) {
	if line, err := h.output.ReadString('\n'); line != holding {
		return nil, fmt.Errorf("the holder said %q: %w", line, err)
	}
	a.armed()
	if _, err := io.WriteString(h.input, "read\n"); err != nil {
		return nil, err
	}
	got, _ := io.ReadAll(h.output)
	return got, endLike(h.command.Wait())
}

// endLike turns the holder's status into its errno, and dies of what the holder was killed by.
func endLike(err error) error {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return err
	}
	status := ended.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		_ = unix.Kill(os.Getpid(), status.Signal())
	}
	return fmt.Errorf("read by the holder: %w", unix.Errno(status.ExitStatus()))
}

// Hold is `bypass hold inherited|received`: descriptor 3 is environ itself or the socket that brings it.
func Hold(arguments []string) error {
	descriptor := given
	if len(arguments) == 1 && arguments[0] == "received" {
		received, err := receive(given)
		if err != nil {
			return err
		}
		descriptor = received
	}
	fmt.Print(holding)
	if _, open := report.ReadLine(); !open {
		return errors.New("standard input closed too early")
	}
	got, err := kernel.ReadAll(descriptor)
	var errno unix.Errno
	if errors.As(err, &errno) {
		os.Exit(int(errno))
	}
	_, err = os.Stdout.Write(got)
	return err
}
