package accesspath

import "svc.example/bypass/internal/kernel"

var openedEnvironCopy = Path{
	Name: "opened-environ-copy-file-range", Title: "environ opened before, copied by copy_file_range after", Kind: toEnviron,
	Needs: []string{needsTwoPhases},
	walk: func(a *attempt) ([]byte, error) {
		return movedBefore(a, kernel.CopyFileRange)
	},
}
