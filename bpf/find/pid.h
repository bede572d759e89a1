/* From a PID in the current task's namespace to the task, by a walk through the namespace's IDR, an xarray. Programs at
 * raw tracepoints have no helper for that. */
#ifndef SVC_FIND_PID_H
#define SVC_FIND_PID_H

#include "program.h"
#include "kernel.h"

#define NODE_TAG 2 /* the lowest two bits of an entry that is a node */
#define MOST_NODES 6 /* 6 bits each, together more than a PID has */
#define FIRST_POINTER 4096 /* lower values are marks of the xarray */
#define SLOTS 64

inlined struct pid_namespace *current_namespace(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);
	struct upid *own = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			   (__u64)level * bpf_core_type_size(struct upid);

	return BPF_CORE_READ(own, ns);
}

inlined struct pid *find_pid(struct pid_namespace *namespace, __u32 number)
{
	unsigned long entry = (unsigned long)BPF_CORE_READ(namespace, idr.idr_rt.xa_head);

	for (int depth = 0; depth < MOST_NODES; depth++) {
		if ((entry & 3) != NODE_TAG)
			break;
		if (entry < FIRST_POINTER)
			return 0;
		struct xa_node *node = (void *)(entry - NODE_TAG);
		unsigned char shift = BPF_CORE_READ(node, shift);
		void *slot = 0;

		if (depth == 0 && (__u64)number >> (shift & 31) >= SLOTS)
			return 0;
		__u32 index = (number >> (shift & 31)) & (SLOTS - 1);

		bpf_core_read(&slot, sizeof(slot),
			      (void *)node + bpf_core_field_offset(struct xa_node, slots) + index * sizeof(void *));
		entry = (unsigned long)slot;
	}
	return entry < FIRST_POINTER || entry & 3 ? 0 : (struct pid *)entry;
}

inlined struct task_struct *task_of(struct pid *pid)
{
	struct hlist_node *link = pid ? BPF_CORE_READ(pid, tasks[0].first) : 0;

	return link ? (void *)link - bpf_core_field_offset(struct task_struct, pid_links[0]) : 0;
}

inlined struct task_struct *find_task(__u32 number)
{
	return task_of(find_pid(current_namespace(), number));
}

#endif
