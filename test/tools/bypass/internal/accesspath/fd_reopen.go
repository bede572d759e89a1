package accesspath

import (
	"fmt"

	"svc.example/bypass/internal/kernel"
)

var fdReopen = Path{
	Name: "fd-reopen", Title: "a memory file reopened through /proc/P/fd", Kind: toDescriptor,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadPath(kernel.Proc(a.victim.PID, fmt.Sprintf("fd/%d", a.victim.Descriptor)))
	},
}
