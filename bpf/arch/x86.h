/* System calls of x86-64, x32 and i386. */
#ifndef SVC_ARCH_X86_H
#define SVC_ARCH_X86_H

#include "arch/call.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct pt_regs {
	unsigned long r10;
	unsigned long bx;
	unsigned long r8;
	unsigned long r9;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long bp;
	unsigned long orig_ax;
};
#pragma clang attribute pop

#define COMPAT_STATUS 2 /* TS_COMPAT */
#define X32_BIT 0x40000000

inlined __u32 call_number(struct pt_regs *registers)
{
	return (__u32)BPF_CORE_READ(registers, orig_ax) & ~X32_BIT;
}

inlined bool is_compat(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_info.status) & COMPAT_STATUS;
}

inlined __u64 native_argument(struct pt_regs *registers, int index)
{
	switch (index) {
	case 0:
		return BPF_CORE_READ(registers, di);
	case 1:
		return BPF_CORE_READ(registers, si);
	case 2:
		return BPF_CORE_READ(registers, dx);
	case 3:
		return BPF_CORE_READ(registers, r10);
	default:
		return BPF_CORE_READ(registers, r8);
	}
}

inlined __u64 compat_argument(struct pt_regs *registers, int index)
{
	switch (index) {
	case 0:
		return (__u32)BPF_CORE_READ(registers, bx);
	case 1:
		return (__u32)BPF_CORE_READ(registers, cx);
	case 2:
		return (__u32)BPF_CORE_READ(registers, dx);
	case 3:
		return (__u32)BPF_CORE_READ(registers, si);
	default:
		return (__u32)BPF_CORE_READ(registers, di);
	}
}

/* Numbers from 512 on are of x32, which otherwise uses the 64-bit ones. */
inlined enum call_kind native_kind(__u32 number)
{
	switch (number) {
	case 2: /* open */
	case 85: /* creat */
	case 257: /* openat */
	case 304: /* open_by_handle_at */
	case 437: /* openat2 */
		return CALL_OPEN;
	case 0: /* read */
	case 1: /* write */
	case 17: /* pread64 */
	case 18: /* pwrite64 */
	case 19: /* readv */
	case 20: /* writev */
	case 295: /* preadv */
	case 296: /* pwritev */
	case 327: /* preadv2 */
	case 328: /* pwritev2 */
	case 515: /* readv */
	case 516: /* writev */
	case 534: /* preadv */
	case 535: /* pwritev */
	case 546: /* preadv2 */
	case 547: /* pwritev2 */
		return CALL_READ;
	case 40: /* sendfile */
	case 275: /* splice */
	case 326: /* copy_file_range */
		return CALL_COPY;
	case 310: /* process_vm_readv */
	case 311: /* process_vm_writev */
	case 539: /* process_vm_readv */
	case 540: /* process_vm_writev */
		return CALL_PROCESS_VM;
	case 101:
	case 521:
		return CALL_PTRACE;
	case 438:
		return CALL_PIDFD_GETFD;
	case 298:
		return CALL_PERF_EVENT_OPEN;
	case 302: /* prlimit64 */
		return CALL_PRLIMIT;
	case 426: /* io_uring_enter */
		return CALL_IO_URING;
	case 4: /* stat */
	case 262: /* newfstatat */
	case 332: /* statx */
		return CALL_STAT;
	default:
		return CALL_OTHER;
	}
}

inlined enum call_kind compat_kind(__u32 number)
{
	switch (number) {
	case 5: /* open */
	case 8: /* creat */
	case 295: /* openat */
	case 342: /* open_by_handle_at */
	case 437: /* openat2 */
		return CALL_OPEN;
	case 3: /* read */
	case 4: /* write */
	case 145: /* readv */
	case 146: /* writev */
	case 180: /* pread64 */
	case 181: /* pwrite64 */
	case 333: /* preadv */
	case 334: /* pwritev */
	case 378: /* preadv2 */
	case 379: /* pwritev2 */
		return CALL_READ;
	case 187: /* sendfile */
	case 239: /* sendfile64 */
	case 313: /* splice */
	case 377: /* copy_file_range */
		return CALL_COPY;
	case 347: /* process_vm_readv */
	case 348: /* process_vm_writev */
		return CALL_PROCESS_VM;
	case 26:
		return CALL_PTRACE;
	case 438:
		return CALL_PIDFD_GETFD;
	case 336:
		return CALL_PERF_EVENT_OPEN;
	case 340: /* prlimit64 */
		return CALL_PRLIMIT;
	case 426: /* io_uring_enter */
		return CALL_IO_URING;
	case 106: /* stat */
	case 195: /* stat64 */
	case 300: /* fstatat64 */
	case 383: /* statx */
		return CALL_STAT;
	default:
		return CALL_OTHER;
	}
}

#define NATIVE_SENDFILE 40

#endif
