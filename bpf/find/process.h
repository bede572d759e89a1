/* Identifies tasks, and finds what covers them. */
#ifndef SVC_FIND_PROCESS_H
#define SVC_FIND_PROCESS_H

#include "maps.h"
#include "kernel.h"

#define MOST_PARENTS 12
#define MOST_LEVELS 20
#define TASK_NEW 0x800

inlined void identify(struct task_struct *task, struct svc_process *process)
{
	process->tgid = BPF_CORE_READ(task, tgid);
	process->reserved = 0;
	process->start = BPF_CORE_READ(task, group_leader, start_boottime);
}

inlined bool is_same(const struct svc_process *one, const struct svc_process *other)
{
	return one->tgid == other->tgid && one->start == other->start;
}

inlined bool is_own_group(const struct svc_process *process)
{
	return process->tgid == bpf_get_current_pid_tgid() >> 32;
}

inlined __u64 cgroup_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/* Whether a cgroup or one above it is covered. */
static __noinline struct svc_protection *find_cgroup(struct cgroup *cgroup)
{
	for (int level = 0; level < MOST_LEVELS && cgroup; level++) {
		__u64 id = BPF_CORE_READ(cgroup, kn, id);
		struct svc_protection *found = bpf_map_lookup_elem(&cgroups, &id);

		if (found)
			return found;
		/* `self` is embedded: the address of the cgroup follows from its offset */
		struct cgroup_subsys_state *parent = BPF_CORE_READ(cgroup, self.parent);

		cgroup = parent ? (void *)parent - bpf_core_field_offset(struct cgroup, self) : 0;
	}
	return 0;
}

/* A child is visible before its fork is reported; until then it is recognized by its parents. */
static __noinline struct svc_protection *find_parent(struct task_struct *task)
{
	for (int level = 0; level < MOST_PARENTS; level++) {
		struct svc_process parent;

		task = BPF_CORE_READ(task, real_parent);
		if (!task)
			return 0;
		identify(task, &parent);
		if (parent.tgid <= 1)
			return 0;
		struct svc_protection *found = bpf_map_lookup_elem(&processes, &parent);

		if (found)
			return found;
	}
	return 0;
}

/* What covers a process: its own entry, else a parent's, else a cgroup's; 0 if it is not covered. */
static __noinline struct svc_protection *find_protection(struct task_struct *task, const struct svc_process *process)
{
	struct svc_protection *found = bpf_map_lookup_elem(&processes, process);

	if (found)
		return found;
	found = find_parent(task);
	if (found)
		return found;
	return find_cgroup(BPF_CORE_READ(task, cgroups, dfl_cgrp));
}

/* Whether a task is visible but its fork not yet reported, so that its cgroup and its parent are not final. */
inlined bool is_forming(struct task_struct *task)
{
	return BPF_CORE_READ(task, group_leader, __state) & TASK_NEW;
}

/* Whether another process has opened its environment or memory, or may have. */
inlined bool is_opened(const struct svc_process *process)
{
	struct svc_settings *now = current_settings();

	if (!now || process->start < now->watching_since)
		return true;
	return bpf_map_lookup_elem(&opened, process);
}

#endif
