// Package accesspath holds the attack paths to another process's environment and memory, one a file.
package accesspath

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"svc.example/bypass/internal/report"
	"svc.example/bypass/internal/victim"
)

// What an attack path leads to.
const (
	toEnviron    = "environ"
	toMemory     = "memory"
	toDescriptor = "descriptor"
	toStack      = "stack"
	toKernel     = "kernel"
	// toChild: a program that the victim starts runs as root's code, with what it inherits.
	toChild = "child"
	// toInterpreter: as toChild, by what all processes of the machine have in common.
	toInterpreter = "interpreter"
)

// What the caller has to do for an attack path, besides starting a victim.
const (
	// needsTwoPhases: the attempt says {"armed":true} and waits for a line.
	needsTwoPhases = "two-phase"
	// needsChild: a victim started with --child or told `fork`.
	needsChild = "child"
	// needsLeaderGone: a victim told `exit-leader`.
	needsLeaderGone = "leader-gone"
	// needsTitle: a victim started with --setproctitle.
	needsTitle = "setproctitle"
	// needsCoreLimit: a victim started with --core-limit 1.
	needsCoreLimit = "core-limit"
	// needsCorePattern: --allow-core-pattern, because it changes the machine.
	needsCorePattern = "allow-core-pattern"
	// needsOwnVictim: the attempt starts the victim itself, with --marker, and tells its facts when armed.
	needsOwnVictim = "own-victim"
	// needsTool: a victim started with --tool and an empty folder.
	needsTool = "tool"
	// endsVictim: nothing is left of the victim afterwards.
	endsVictim = "ends-victim"
)

// Path is one attack path; its function returns the bytes that it got.
type Path struct {
	Name  string   `json:"path"`
	Title string   `json:"title"`
	Needs []string `json:"needs"`
	Kind  string   `json:"kind"`
	walk  func(*attempt) ([]byte, error)
}

// attempt is one walk along a path.
type attempt struct {
	victim           victim.Facts
	marker           string
	allowCorePattern bool
}

// armed ends the first phase: it returns when the caller says so, with a line.
func (a *attempt) armed() {
	a.armedWith(map[string]any{"armed": true})
}

func (a *attempt) armedWith(facts map[string]any) {
	report.Line(facts)
	a.proceed(report.ReadLine())
}

// armedWhile does something over and over until the second phase begins.
func (a *attempt) armedWhile(meanwhile func()) {
	report.Line(map[string]any{"armed": true})
	begun := make(chan struct{})
	go func() {
		a.proceed(report.ReadLine())
		close(begun)
	}()
	for {
		select {
		case <-begun:
			return
		case <-time.After(time.Millisecond):
			meanwhile()
		}
	}
}

// proceed takes the victim's facts anew where the line tells them, for it may have executed itself since.
func (a *attempt) proceed(line string, open bool) {
	if !open {
		os.Exit(1)
	}
	if strings.HasPrefix(line, "{") {
		if err := json.Unmarshal([]byte(line), &a.victim); err != nil {
			panic(err)
		}
	}
}
