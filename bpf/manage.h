/* The agent's requests, run by BPF_PROG_TEST_RUN in the agent's context: PIDs are those of its namespace, and start
 * times the kernel's exact ones, which /proc shows only to 10 ms. */
#ifndef SVC_MANAGE_H
#define SVC_MANAGE_H

#include "entries.h"
#include "find/pid.h"
#include "tokens.h"

inlined int protect_process(struct task_struct *task, const struct svc_process *process, __u32 flags)
{
	return bpf_map_lookup_elem(&processes, process) ? 0 : add_entry(task, process, flags);
}

/* Identifies the process in the answer. Returns 0, with the error in the answer, if there is no such process. */
inlined struct task_struct *answer_about(struct svc_answer *to, __u32 number)
{
	struct task_struct *task = find_task(number);

	__builtin_memset(to, 0, sizeof(*to));
	to->error = -ESRCH;
	if (!task)
		return 0;
	to->error = 0;
	identify(task, &to->process);
	to->cgroup = cgroup_of(task);
	return task;
}

inlined void answer_about_tokens(struct svc_answer *to, enum svc_request request, __u32 number, __u32 descriptor)
{
	struct task_struct *task = answer_about(to, number);

	if (!task)
		return;
	to->error = request == SVC_REQUEST_KEEP_TOKENS ? add_keeper(&to->process)
						       : guard_token(task, &to->process, descriptor);
}

inlined void answer_request(struct svc_answer *to, enum svc_request request, __u32 number, __u32 flags)
{
	struct task_struct *task = answer_about(to, number);

	if (!task)
		return;
	if (is_opened(&to->process) && !(flags & SVC_PROTECTION_DECOY)) {
		to->facts |= SVC_FACT_OPENED;
		flags |= SVC_PROTECTION_LATE;
	}
	if (request == SVC_REQUEST_PROTECT)
		to->error = protect_process(task, &to->process, flags);
	else if (request == SVC_REQUEST_RELEASE)
		remove_entry(&to->process);
	if (find_protection(task, &to->process))
		to->facts |= SVC_FACT_COVERED;
}

/* For a process whose end was not reported. Takes its start time, because the PID may have been reused. */
inlined void forget_process(struct svc_answer *to, __u32 tgid, __u64 start)
{
	__builtin_memset(to, 0, sizeof(*to));
	to->process.tgid = tgid;
	to->process.start = start;
	remove_entry(&to->process);
	remove_opener(&to->process);
}

/* The mode in force, which may have changed since boot. */
inlined void answer_preemption(struct svc_answer *to)
{
	__s32 mode = -1;

	__builtin_memset(to, 0, sizeof(*to));
	to->error = -ESRCH;
	if (!preemption_address || bpf_probe_read_kernel(&mode, sizeof(mode), (void *)preemption_address))
		return;
	to->error = 0;
	to->preemption = mode;
}

/* Context: request, PID, flags; for SVC_REQUEST_FORGET the start time, for SVC_REQUEST_GUARD_TOKEN a descriptor. */
SEC("raw_tp")
int manage(struct bpf_raw_tracepoint_args *context)
{
	__u32 first = 0;
	struct svc_answer *to = bpf_map_lookup_elem(&answer, &first);

	if (to && context->args[0] == SVC_REQUEST_PREEMPTION)
		answer_preemption(to);
	else if (to && context->args[0] == SVC_REQUEST_FORGET)
		forget_process(to, context->args[1], context->args[2]);
	else if (to && context->args[0] >= SVC_REQUEST_GUARD_TOKEN)
		answer_about_tokens(to, context->args[0], context->args[1], context->args[2]);
	else if (to)
		answer_request(to, context->args[0], context->args[1], context->args[2]);
	return 0;
}

#endif
