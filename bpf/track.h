/* Keeps the table of processes up to date: children inherit, processes that enter a covered cgroup stay covered when
 * moved elsewhere, and an entry is removed when the last thread of its process is freed. */
#ifndef SVC_TRACK_H
#define SVC_TRACK_H

#include "entries.h"
#include "tokens.h"

#define CLONE_THREAD 0x00010000

/* If no entry is available, the whole cgroup is covered instead of the one process. */
inlined void cover_cgroup_of(struct task_struct *task)
{
	struct svc_protection protection = { .since = bpf_ktime_get_boot_ns() };
	__u64 id = cgroup_of(task);

	/* the root belongs to all workloads: children in it are recognized by their parents only */
	if (!BPF_CORE_READ(task, cgroups, dfl_cgrp, self.parent))
		return;
	bpf_map_update_elem(&cgroups, &id, &protection, BPF_NOEXIST);
}

inlined void cover(struct task_struct *task, __u32 flags)
{
	struct svc_process process;
	int error;

	identify(task, &process);
	if (bpf_map_lookup_elem(&processes, &process))
		return;
	error = add_entry(task, &process, flags);
	if (error == -E2BIG)
		tally(SVC_TALLY_PROCESSES_LOST);
	if (error)
		cover_cgroup_of(task);
}

/* A new process cannot have been opened before. */
SEC("raw_tp/task_newtask")
int track_fork(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *child = (struct task_struct *)context->args[0];
	struct task_struct *parent = (struct task_struct *)bpf_get_current_task();
	struct svc_process process;

	if (context->args[1] & CLONE_THREAD)
		return 0;
	identify(parent, &process);
	if (find_protection(parent, &process) || find_cgroup(BPF_CORE_READ(child, cgroups, dfl_cgrp)))
		cover(child, 0);
	return 0;
}

/* Descriptors opened before exec refer to the old memory. */
SEC("raw_tp/sched_process_exec")
int track_exec(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (struct task_struct *)context->args[0];
	struct svc_protection *protection;
	struct svc_process process;

	identify(task, &process);
	rename_token(task, &process);
	bpf_map_delete_elem(&opened, &process);
	protection = bpf_map_lookup_elem(&processes, &process);
	if (protection)
		protection->flags &= ~SVC_PROTECTION_LATE;
	return 0;
}

inlined void cover_arrival(struct task_struct *task)
{
	struct svc_process process;

	identify(task, &process);
	if (bpf_map_lookup_elem(&processes, &process))
		return;
	if (!is_opened(&process)) {
		cover(task, 0);
		return;
	}
	cover(task, SVC_PROTECTION_LATE);
	tally(SVC_TALLY_COVERED_LATE);
}

SEC("raw_tp/cgroup_attach_task")
int track_move(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (struct task_struct *)context->args[2];

	/* runs after the move; not the reported destination, which may be of version 1, whose ids are not distinct */
	if (find_cgroup(BPF_CORE_READ(task, cgroups, dfl_cgrp)))
		cover_arrival(task);
	return 0;
}

/* At the freeing of the task, not its exit: until then its memory may be reachable. */
SEC("raw_tp/sched_process_free")
int track_free(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (struct task_struct *)context->args[0];
	struct svc_process process;

	if (BPF_CORE_READ(task, pid) != BPF_CORE_READ(task, tgid))
		return 0;
	process.tgid = BPF_CORE_READ(task, tgid);
	process.reserved = 0;
	process.start = BPF_CORE_READ(task, start_boottime);
	remove_entry(&process);
	remove_opener(&process);
	bpf_map_delete_elem(&opened, &process);
	return 0;
}

#endif
