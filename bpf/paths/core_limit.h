/* Changing the core dump limit, which the wrapper has set, from outside so that the next crash would write a dump.
 * Other changes are permitted, because container runtimes set limits from outside. */
#ifndef SVC_PATHS_CORE_LIMIT_H
#define SVC_PATHS_CORE_LIMIT_H

#include "paths/attempt.h"

#define CORE_LIMIT 4 /* RLIMIT_CORE on both architectures */

/* The soft limit at which the kernel writes no dump to the pipe of core_pattern either; at 0 it does. */
#define NO_PIPED_DUMP 1

inlined bool permits_dump(struct task_struct *task, __u64 soft, __u64 hard)
{
	__u64 now = BPF_CORE_READ(task, signal, rlim[CORE_LIMIT].rlim_cur);

	return soft > now || (now == NO_PIPED_DUMP && soft != NO_PIPED_DUMP) ||
	       hard > BPF_CORE_READ(task, signal, rlim[CORE_LIMIT].rlim_max);
}

inlined int on_setrlimit(struct task_struct *task, unsigned int resource, struct rlimit *limit)
{
	struct attempt attempt;
	struct call call;

	if (resource != CORE_LIMIT)
		return 0;
	if (!permits_dump(task, BPF_CORE_READ(limit, rlim_cur), BPF_CORE_READ(limit, rlim_max)))
		return 0;
	begin_attempt(&attempt, SVC_PATH_CORE_LIMIT);
	if (!aims_at(&attempt, task))
		return 0;
	current_call(&call);
	attempt.call = call.number;
	return judge(&attempt, -EPERM);
}

#endif
