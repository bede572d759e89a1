/* All memory of the machine: /proc/kcore, /dev/mem. */
#ifndef SVC_PATHS_KERNEL_MEMORY_H
#define SVC_PATHS_KERNEL_MEMORY_H

#include "paths/attempt.h"

inlined int on_locked_down(enum lockdown_reason what)
{
	struct attempt attempt;
	struct call call;

	if (what != bpf_core_enum_value(enum lockdown_reason, LOCKDOWN_KCORE) &&
	    what != bpf_core_enum_value(enum lockdown_reason, LOCKDOWN_DEV_MEM))
		return 0;
	if (!is_machine_guarded(SVC_LEFT_KERNEL_MEMORY))
		return 0;
	begin_attempt(&attempt, SVC_PATH_KERNEL_MEMORY);
	current_call(&call);
	attempt.call = call.number;
	return judge(&attempt, -EPERM);
}

#endif
