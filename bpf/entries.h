/* Entries of the table of processes, limited for each cgroup, so that a workload leaves room for the others however
 * many processes it keeps alive. */
#ifndef SVC_ENTRIES_H
#define SVC_ENTRIES_H

#include "find/process.h"

/* The crowd of a task's cgroup. The root has none, because its processes belong to all workloads, and on a host with
 * only version 1 every task is in the root. */
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

/* Returns 0, -E2BIG if the table is full, or -EDQUOT if the task's cgroup has reached its limit of entries. Concurrent
 * processors may exceed the limit by a few. */
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

/* Of several concurrent calls, only the one that deletes the entry counts it. */
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
