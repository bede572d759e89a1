package accesspath

import "svc.example/bypass/internal/kernel"

var processVMReadvTID2 = Path{
	Name: "process-vm-readv-tid2", Title: "process_vm_readv by TID2", Kind: toMemory,
	walk: func(a *attempt) ([]byte, error) {
		return kernel.ReadProcess(a.victim.TID2, a.victim.Address, a.victim.Length)
	},
}
