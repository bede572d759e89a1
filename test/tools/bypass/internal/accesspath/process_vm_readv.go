package accesspath

import "svc.example/bypass/internal/kernel"

var processVMReadv = Path{
	Name: "process-vm-readv", Title: "process_vm_readv by PID", Kind: toMemory,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadProcess(a.victim.PID, a.victim.Address, a.victim.Length)
	},
}
