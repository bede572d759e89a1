/* Tier 3, for kernels without hooks that deny: raw tracepoints at the entry and the end of every system call and, to
 * kill readers, at the locking of memory. */
#include "program.h"

#include "manage.h"
#include "paths/calls.h"
#include "paths/memory_lock.h"
#include "track.h"

SEC("raw_tp/sys_enter")
int call_entered(struct bpf_raw_tracepoint_args *context)
{
	struct call call;

	read_call(&call, (struct task_struct *)bpf_get_current_task(), (struct pt_regs *)context->args[0]);
	on_call_entered(&call);
	return 0;
}

SEC("raw_tp/sys_exit")
int call_ended(struct bpf_raw_tracepoint_args *context)
{
	struct call call;
	long answered = context->args[1];

	read_call(&call, (struct task_struct *)bpf_get_current_task(), (struct pt_regs *)context->args[0]);
	on_call_ended(&call, answered);
	return 0;
}

/* Since Linux 5.11, with CONFIG_TRACING. Attached only to kill readers, because it runs at every page fault. */
SEC("raw_tp/mmap_lock_start_locking")
int memory_locking(struct bpf_raw_tracepoint_args *context)
{
	on_memory_locking((struct mm_struct *)context->args[0]);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
