// Package report is the program's end of its pipes: JSON lines out, commands in.
package report

import (
	"encoding/json"
	"os"
	"strings"
)

// Line writes value as one JSON line, by one write.
func Line(value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.Write(append(text, '\n')); err != nil {
		os.Exit(1)
	}
}

// ReadLine takes one line from standard input without the newline; false once it is closed. It reads byte by byte,
// because whatever stood in a buffer would be lost when the process executes itself anew.
func ReadLine() (string, bool) {
	var line strings.Builder
	next := make([]byte, 1)
	for {
		count, err := os.Stdin.Read(next)
		if err != nil || count == 0 {
			return "", false
		}
		if next[0] == '\n' {
			return line.String(), true
		}
		line.WriteByte(next[0])
	}
}

// AwaitClose returns once standard input is closed.
func AwaitClose() {
	for open := true; open; {
		_, open = ReadLine()
	}
}
