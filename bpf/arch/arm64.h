/* System calls of arm64, and of 32-bit arm. */
#ifndef SVC_ARCH_ARM64_H
#define SVC_ARCH_ARM64_H

#include "arch/call.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct pt_regs {
	__u64 regs[31];
	__u64 orig_x0;
	int syscallno;
};
#pragma clang attribute pop

inlined __u32 call_number(struct pt_regs *registers)
{
	return (__u32)BPF_CORE_READ(registers, syscallno);
}

#define AARCH32_FLAG (1UL << 22) /* TIF_32BIT */

inlined bool is_compat(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_info.flags) & AARCH32_FLAG;
}

inlined __u64 native_argument(struct pt_regs *registers, int index)
{
	switch (index) {
	case 0:
		return BPF_CORE_READ(registers, orig_x0);
	case 1:
		return BPF_CORE_READ(registers, regs[1]);
	case 2:
		return BPF_CORE_READ(registers, regs[2]);
	case 3:
		return BPF_CORE_READ(registers, regs[3]);
	default:
		return BPF_CORE_READ(registers, regs[4]);
	}
}

inlined __u64 compat_argument(struct pt_regs *registers, int index)
{
	return (__u32)native_argument(registers, index);
}

inlined enum call_kind native_kind(__u32 number)
{
	switch (number) {
	case 56: /* openat */
	case 265: /* open_by_handle_at */
	case 437: /* openat2 */
		return CALL_OPEN;
	case 63: /* read */
	case 64: /* write */
	case 65: /* readv */
	case 66: /* writev */
	case 67: /* pread64 */
	case 68: /* pwrite64 */
	case 69: /* preadv */
	case 70: /* pwritev */
	case 286: /* preadv2 */
	case 287: /* pwritev2 */
		return CALL_READ;
	case 71: /* sendfile */
	case 76: /* splice */
	case 285: /* copy_file_range */
		return CALL_COPY;
	case 270: /* process_vm_readv */
	case 271: /* process_vm_writev */
		return CALL_PROCESS_VM;
	case 117:
		return CALL_PTRACE;
	case 438:
		return CALL_PIDFD_GETFD;
	case 241:
		return CALL_PERF_EVENT_OPEN;
	case 261: /* prlimit64 */
		return CALL_PRLIMIT;
	case 426: /* io_uring_enter */
		return CALL_IO_URING;
	case 79: /* newfstatat */
	case 291: /* statx */
		return CALL_STAT;
	default:
		return CALL_OTHER;
	}
}

/* System calls of 32-bit arm. */
inlined enum call_kind compat_kind(__u32 number)
{
	switch (number) {
	case 5: /* open */
	case 8: /* creat */
	case 322: /* openat */
	case 371: /* open_by_handle_at */
	case 437: /* openat2 */
		return CALL_OPEN;
	case 3: /* read */
	case 4: /* write */
	case 145: /* readv */
	case 146: /* writev */
	case 180: /* pread64 */
	case 181: /* pwrite64 */
	case 361: /* preadv */
	case 362: /* pwritev */
	case 392: /* preadv2 */
	case 393: /* pwritev2 */
		return CALL_READ;
	case 187: /* sendfile */
	case 239: /* sendfile64 */
	case 340: /* splice */
	case 391: /* copy_file_range */
		return CALL_COPY;
	case 376: /* process_vm_readv */
	case 377: /* process_vm_writev */
		return CALL_PROCESS_VM;
	case 26:
		return CALL_PTRACE;
	case 438:
		return CALL_PIDFD_GETFD;
	case 364:
		return CALL_PERF_EVENT_OPEN;
	case 369: /* prlimit64 */
		return CALL_PRLIMIT;
	case 426: /* io_uring_enter */
		return CALL_IO_URING;
	case 106: /* stat */
	case 195: /* stat64 */
	case 327: /* fstatat64 */
	case 397: /* statx */
		return CALL_STAT;
	default:
		return CALL_OTHER;
	}
}

#define NATIVE_SENDFILE 71

#endif
