/* Samples of user stacks and registers. The hook does not know which process they will come from, and events follow a
 * process into its children, so only events on the caller itself are permitted. */
#ifndef SVC_PATHS_PERF_H
#define SVC_PATHS_PERF_H

#include "paths/attempt.h"

inlined bool samples_user_memory(__u64 sample_type)
{
	return sample_type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR);
}

/* The attributes' flags follow read_format; they are bit fields, which have no offsets. */
#define ATTRIBUTE_FLAGS 40
#define INHERIT 2

/* Whether the event follows into children of the caller, which may be covered later. */
inlined bool is_inherited(struct perf_event *event)
{
	__u64 flags = 0;

	bpf_probe_read_kernel(&flags, sizeof(flags),
			      (void *)event + bpf_core_field_offset(struct perf_event, attr) + ATTRIBUTE_FLAGS);
	return flags & INHERIT;
}

/* perf_event_open(attr, pid, cpu, group, flags): pid 0 is the caller, unless pid is the descriptor of a cgroup. */
inlined bool is_on_itself(const struct call *call)
{
	return call->kind == CALL_PERF_EVENT_OPEN && (__u32)argument(call, 1) == 0 &&
	       !(argument(call, 4) & PERF_FLAG_PID_CGROUP);
}

/* At the creation of an event, not its request: that hook passes the attributes only before Linux 6.15. */
inlined int on_perf_event_alloc(struct perf_event *event)
{
	struct attempt attempt;
	struct call call;

	if (!samples_user_memory(BPF_CORE_READ(event, attr.sample_type)))
		return 0;
	/* an event that follows another one into a child: denying it would deny the fork */
	if (BPF_CORE_READ(event, parent))
		return 0;
	current_call(&call);
	if (is_on_itself(&call) && !is_inherited(event))
		return 0;
	if (!is_machine_guarded(SVC_LEFT_PERF))
		return 0;
	begin_attempt(&attempt, SVC_PATH_PERF_STACK);
	attempt.call = call.number;
	return judge(&attempt, -EPERM);
}

#endif
