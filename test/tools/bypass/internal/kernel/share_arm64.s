#include "textflag.h"

// func cloneShared(flags uintptr, number *int32, descriptor uintptr, byte *byte) int
TEXT ·cloneShared(SB), NOSPLIT, $0-40
	MOVD flags+0(FP), R0
	MOVD number+8(FP), R2
	MOVD descriptor+16(FP), R10
	MOVD byte+24(FP), R11
	MOVD $0, R1
	MOVD $0, R3
	MOVD $0, R4
	MOVD $220, R8 // clone
	SVC
	CBZ R0, child
	MOVD R0, ret+32(FP)
	RET
child:
	MOVD $1, R0 // PR_SET_PDEATHSIG
	MOVD $9, R1
	MOVD $167, R8 // prctl
	SVC
	MOVD R10, R0
	MOVD R11, R1
	MOVD $1, R2
	MOVD $63, R8 // read
	SVC
	MOVD $0, R0
	MOVD $94, R8 // exit_group
	SVC
	BRK
