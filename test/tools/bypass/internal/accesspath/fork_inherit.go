package accesspath

import (
	"os"

	"svc.example/bypass/internal/kernel"
)

var forkInherit = Path{
	Name: "fork-inherit", Title: "environ opened before by a parent, read by its child", Kind: toEnviron,
	Needs: []string{needsTwoPhases},
	walk: func(a *attempt) ([]byte, error) {
		file, err := os.Open(kernel.Proc(a.victim.PID, "environ"))
		if err != nil {
			return nil, err
		}
		child, err := startHolder("inherited", file)
		_ = file.Close()
		if err != nil {
			return nil, err
		}
		return child.readAfter(a)
	},
}
