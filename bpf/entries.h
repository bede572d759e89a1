/* Entries of the table of processes, and how many of them the processes of one cgroup may have: one workload leaves
 * room for the others, however many processes it keeps alive. */
#ifndef SVC_ENTRIES_H
#define SVC_ENTRIES_H

#include "find/process.h"

/* Of the cgroup of a task. The root has none, since its processes are everybody's: nor has any where a host has
 * cgroups of version 1 alone. */
inlined struct svc_crowd *crowd_of(struct task_struct *task, __u32 *key)
{
	struct svc_crowd fresh = {};
	struct svc_crowd *found;

	if (!BPF_CORE_READ(task, cgroups, dfl_cgrp, self.parent))
		return 0;
	fresh.cgroup = cgroup_of(task);
	*key = fresh.cgroup;
	found = bpf_map_lookup_elem(&crowds, key);
	if (found)
		return found;
	bpf_map_update_elem(&crowds, key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&crowds, key);
}

/* Answers 0, -E2BIG where the table is full, or -EDQUOT where the task's cgroup has as many entries as one may have.
 * Several processors at once may enter a few more. */
inlined int add_entry(struct task_struct *task, const struct svc_process *process, __u32 flags)
{
	struct svc_protection protection = { .flags = flags, .since = bpf_ktime_get_boot_ns() };
	__u32 key = 0;
	struct svc_crowd *crowd = crowd_of(task, &key);
	long error;

	if (crowd && crowd->processes >= SVC_MOST_OF_ONE) {
		__sync_fetch_and_add(&crowd->beyond, 1);
		return -EDQUOT;
	}
	protection.crowd = crowd ? key : 0;
	error = bpf_map_update_elem(&processes, process, &protection, BPF_NOEXIST);
	if (error)
		return error == -EEXIST ? 0 : -E2BIG;
	if (crowd)
		__sync_fetch_and_add(&crowd->processes, 1);
	return 0;
}

/* Whoever takes the entry away counts it, of several that try. */
inlined void remove_entry(const struct svc_process *process)
{
	struct svc_protection *found = bpf_map_lookup_elem(&processes, process);
	__u32 key = found ? found->crowd : 0;
	struct svc_crowd *crowd;

	if (!found || bpf_map_delete_elem(&processes, process) || !key)
		return;
	crowd = bpf_map_lookup_elem(&crowds, &key);
	if (crowd)
		__sync_fetch_and_add(&crowd->processes, -1);
}

#endif
