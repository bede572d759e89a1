/* A process asks whether the programs protect it: a pod that may not mount the agent's socket has no other way to find
 * out. It sets its soft limit on file locks, which has had no effect since Linux 2.4.25, to a magic number; an error
 * that the kernel itself never returns means yes. */
#ifndef SVC_QUERY_H
#define SVC_QUERY_H

#include "paths/attempt.h"

#define LOCKS_LIMIT 10 /* RLIMIT_LOCKS on both architectures */

inlined int on_query(struct task_struct *task, unsigned int resource, struct rlimit *limit)
{
	struct task_struct *current = (struct task_struct *)bpf_get_current_task();
	struct attempt attempt;

	if (resource != LOCKS_LIMIT || BPF_CORE_READ(limit, rlim_cur) != SVC_QUERY_LIMIT)
		return 0;
	if (BPF_CORE_READ(task, tgid) != BPF_CORE_READ(current, tgid))
		return 0;
	begin_attempt(&attempt, SVC_PATH_NONE);
	return is_enforcing() && is_covered_itself(&attempt) ? -EALREADY : 0;
}

#endif
