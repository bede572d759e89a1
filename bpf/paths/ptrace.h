/* Calls that need the kernel's permission to attach: process_vm_readv and writev, ptrace, pidfd_getfd, /proc/PID/mem
 * and the files that show registers. Permission to read is not checked: ns/ and much that tools need require it. */
#ifndef SVC_PATHS_PTRACE_H
#define SVC_PATHS_PTRACE_H

#include "paths/attempt.h"

#define MODE_ATTACH 2

inlined enum svc_access_path path_of_call(enum call_kind kind)
{
	switch (kind) {
	case CALL_PROCESS_VM:
		return SVC_PATH_PROCESS_VM;
	case CALL_PIDFD_GETFD:
		return SVC_PATH_PIDFD_GETFD;
	default:
		return SVC_PATH_PTRACE;
	}
}

/* If a file is being opened, the hook file_open has run before and reported it. */
inlined bool is_reported_by_open(enum call_kind kind)
{
	return kind == CALL_OPEN || kind == CALL_IO_URING;
}

inlined int on_ptrace_access(struct task_struct *child, unsigned int mode)
{
	struct attempt attempt;
	struct call call;

	if (!(mode & MODE_ATTACH))
		return 0;
	current_call(&call);
	begin_attempt(&attempt, path_of_call(call.kind));
	if (!aims_at(&attempt, child))
		return 0;
	if (is_reported_by_open(call.kind))
		return is_enforcing() ? -EPERM : 0;
	attempt.call = call.number;
	return judge(&attempt, -EPERM);
}

/* A covered process asks its parent to trace it; the parent is the reader. */
inlined int on_ptrace_traceme(struct task_struct *parent)
{
	struct attempt attempt;
	struct call call;

	begin_attempt(&attempt, SVC_PATH_TRACEME);
	if (!is_covered_itself(&attempt))
		return 0;
	attempt.source = parent;
	current_call(&call);
	attempt.call = call.number;
	return judge(&attempt, -EPERM);
}

#endif
