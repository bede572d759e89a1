package accesspath

import (
	"fmt"

	"svc.example/bypass/internal/kernel"
)

// task is the path of a file of one of the victim's threads.
func task(a *attempt, tid int, name string) string {
	return kernel.Proc(a.victim.PID, fmt.Sprintf("task/%d/%s", tid, name))
}
