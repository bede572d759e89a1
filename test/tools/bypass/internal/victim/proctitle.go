package victim

import (
	"os"
	"unsafe"
)

// overwriteArguments does what setproctitle does with a long title: no NUL is left before the environment, and
// the kernel then shows the environment's first string at the end of cmdline. Go's arguments are the kernel's own
// copy, NUL by NUL, so nothing may read them afterwards.
func overwriteArguments() {
	for _, argument := range os.Args {
		memory := unsafe.Slice(unsafe.StringData(argument), len(argument)+1)
		for index := range memory {
			memory[index] = 'x'
		}
	}
}
