package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Attach traces that thread and stops it. All of tracing has to come from one thread.
func Attach(tid int) error {
	if err := unix.PtraceAttach(tid); err != nil {
		return fmt.Errorf("PTRACE_ATTACH: %w", err)
	}
	return AwaitStop(tid)
}

// Seize traces that thread without stopping it.
func Seize(tid int) error {
	if err := unix.PtraceSeize(tid); err != nil {
		return fmt.Errorf("PTRACE_SEIZE: %w", err)
	}
	return nil
}

// Interrupt stops a thread that was seized.
func Interrupt(tid int) error {
	if err := unix.PtraceInterrupt(tid); err != nil {
		return fmt.Errorf("PTRACE_INTERRUPT: %w", err)
	}
	return AwaitStop(tid)
}

// AwaitStop waits until a traced thread has stopped.
func AwaitStop(tid int) error {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(tid, &status, unix.WALL, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return fmt.Errorf("wait for the stop: %w", err)
		case !status.Stopped():
			return fmt.Errorf("thread %d ended in place of stopping", tid)
		}
		return nil
	}
}

// PassSignals lets a traced thread go on that a signal has stopped, with that signal.
func PassSignals(tid int) {
	var status unix.WaitStatus
	stopped, err := unix.Wait4(tid, &status, unix.WALL|unix.WNOHANG, nil)
	if err != nil || stopped != tid || !status.Stopped() {
		return
	}
	signal := int(status.StopSignal())
	if signal == int(unix.SIGTRAP) {
		signal = 0
	}
	_ = unix.PtraceCont(tid, signal)
}

// Peek reads the memory of a stopped thread and lets it go.
func Peek(tid int, address uint64, length int) ([]byte, error) {
	defer unix.PtraceDetach(tid)
	return PeekData(tid, address, length)
}

// PeekData reads the memory of a stopped thread.
func PeekData(tid int, address uint64, length int) ([]byte, error) {
	buffer := make([]byte, length)
	count, err := unix.PtracePeekData(tid, uintptr(address), buffer)
	if err != nil {
		return nil, fmt.Errorf("PTRACE_PEEKDATA: %w", err)
	}
	return buffer[:count], nil
}
