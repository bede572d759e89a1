#include "textflag.h"

// func cloneShared(flags uintptr, number *int32, descriptor uintptr, byte *byte) int
TEXT ·cloneShared(SB), NOSPLIT, $0-40
	MOVQ flags+0(FP), DI
	MOVQ number+8(FP), DX
	MOVQ descriptor+16(FP), R13
	MOVQ byte+24(FP), R14
	XORQ SI, SI
	XORQ R10, R10
	XORQ R8, R8
	MOVQ $56, AX // clone
	SYSCALL
	TESTQ AX, AX
	JZ child
	MOVQ AX, ret+32(FP)
	RET
child:
	MOVQ $1, DI // PR_SET_PDEATHSIG
	MOVQ $9, SI
	MOVQ $157, AX // prctl
	SYSCALL
	MOVQ R13, DI
	MOVQ R14, SI
	MOVQ $1, DX
	MOVQ $0, AX // read
	SYSCALL
	XORQ DI, DI
	MOVQ $231, AX // exit_group
	SYSCALL
	INT $3
