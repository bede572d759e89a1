package load

import "svc.example/bypass/internal/accesspath"

// count is of attempts by outcome.
type count struct {
	Attempts int `json:"attempts"`
	Leaked   int `json:"leaked"`
	Denied   int `json:"denied"`
	Failed   int `json:"failed"`
	Killed   int `json:"killed"`
}

func (c *count) add(outcome string) {
	c.Attempts++
	switch outcome {
	case accesspath.Leaked:
		c.Leaked++
	case accesspath.Denied:
		c.Denied++
	case killed:
		c.Killed++
	default:
		c.Failed++
	}
}
