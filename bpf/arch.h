/* System calls by number and the location of their arguments, for both ABIs of a 64-bit kernel: a 64-bit program may
 * also make 32-bit calls. */
#ifndef SVC_ARCH_H
#define SVC_ARCH_H

#if defined(__TARGET_ARCH_x86)
#include "arch/x86.h"
#elif defined(__TARGET_ARCH_arm64)
#include "arch/arm64.h"
#else
#error "build with -D__TARGET_ARCH_x86 or -D__TARGET_ARCH_arm64"
#endif

/* Flag of a kernel thread that works for an io_uring; its registers are those of its creation. */
#define IO_WORKER 0x00000010

/* On both architectures. */
#define IO_URING_ENTER 426
#define COMPAT_SENDFILE 187
#define COMPAT_SENDFILE64 239

/* sendfile takes the descriptor that it reads as its second argument. */
inlined bool is_sendfile(const struct call *call)
{
	if (!call->compat)
		return call->number == NATIVE_SENDFILE;
	return call->number == COMPAT_SENDFILE || call->number == COMPAT_SENDFILE64;
}

/* Not static, so that the verifier checks it separately, and not the rest of each program once for every number. */
__noinline int kind_of_call(__u32 number, __u32 compat)
{
	return compat ? compat_kind(number) : native_kind(number);
}

inlined void read_call(struct call *call, struct task_struct *task, struct pt_regs *registers)
{
	call->registers = registers;
	call->number = call_number(registers);
	call->compat = is_compat(task);
	call->kind = kind_of_call(call->number, call->compat);
}

inlined __u64 argument(const struct call *call, int index)
{
	return call->compat ? compat_argument(call->registers, index) : native_argument(call->registers, index);
}

/* io_uring_enter requested the work of an io_uring worker. */
inlined void call_of_io_worker(struct call *call)
{
	call->number = IO_URING_ENTER;
	call->kind = CALL_IO_URING;
}

/* The current task's system call, as far as the kernel shows it to programs (since 5.15). */
inlined void current_call(struct call *call)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	__builtin_memset(call, 0, sizeof(*call));
	if (BPF_CORE_READ(task, flags) & IO_WORKER)
		call_of_io_worker(call);
	else if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		read_call(call, task, (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()));
}

#endif
