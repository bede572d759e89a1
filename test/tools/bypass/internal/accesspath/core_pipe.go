package accesspath

var corePipe = Path{
	Name: "core-pipe", Title: "core dump through a pipe of core_pattern", Kind: toMemory,
	Needs: []string{needsCorePattern, endsVictim},
	walk: func(a *attempt) ([]byte, error) {
		if !a.allowCorePattern {
			return nil, unavailable("needs --allow-core-pattern, because it changes the machine")
		}
		return dump(a)
	},
}
