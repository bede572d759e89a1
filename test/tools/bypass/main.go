// Command bypass is victim, attacker and ordinary reader for the tests of the node agent: it tries the attack paths
// to a process's environment and memory, and says in JSON lines what came of it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"svc.example/bypass/internal/accesspath"
	"svc.example/bypass/internal/attack"
	"svc.example/bypass/internal/load"
	"svc.example/bypass/internal/ordinary"
	"svc.example/bypass/internal/reuse"
	"svc.example/bypass/internal/victim"
)

var commands = map[string]func([]string) error{
	"attack":         attack.Run,
	"cost":           load.Cost,
	"dump-sink":      accesspath.DumpSink,
	"events":         load.Events,
	"hammer":         load.Hammer,
	"herd":           load.Herd,
	"hold":           accesspath.Hold,
	"once":           load.Once,
	"ordinary":       ordinary.Run,
	"paths":          accesspath.Print,
	"reuse":          reuse.Run,
	"sleep":          reuse.Sleep,
	"stalk":          load.Stalk,
	"spin":           load.Spin,
	"spin-once":      load.SpinOnce,
	"try":            accesspath.Try,
	"victim":         victim.Run,
	"watch-children": load.Watch,
}

// The main goroutine stays on the main thread: tracing, namespaces and a leader's end are of a thread.
func init() { runtime.LockOSThread() }

func main() {
	if strings.HasPrefix(filepath.Base(os.Args[0]), victim.ToolPrefix) {
		run(victim.Betray, nil)
		return
	}
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: bypass <command>"))
	}
	command, known := commands[os.Args[1]]
	if !known {
		fail(fmt.Errorf("no such command: %q", os.Args[1]))
	}
	run(command, os.Args[2:])
}

func run(command func([]string) error, arguments []string) {
	if err := command(arguments); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bypass:", err)
	os.Exit(2)
}
