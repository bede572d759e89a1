/* The hooks of both tiers that deny; each tier defines by HOOK how they are attached. `verdict` is the
 * result of the previous program. */
#ifndef SVC_HOOKS_H
#define SVC_HOOKS_H

#include "manage.h"
#include "paths/calls.h"
#include "paths/core_limit.h"
#include "paths/descriptor_link.h"
#include "paths/interpreter.h"
#include "paths/kernel_memory.h"
#include "paths/perf.h"
#include "paths/proc_file.h"
#include "paths/ptrace.h"
#include "paths/token.h"
#include "query.h"
#include "track.h"

SEC(HOOK("file_open"))
int BPF_PROG(file_open, struct file *file, int verdict)
{
	if (verdict)
		return verdict;
	if (is_on_procfs(file))
		return on_proc_file_open(file);
	return is_interpreter_write(file) ? on_interpreter_write() : on_token_open(file);
}

/* Runs at every read of every file, so it is attached only while a process is covered that was not from its start. */
SEC(HOOK("file_permission"))
int BPF_PROG(file_permission, struct file *file, int mask, int verdict)
{
	return verdict ? verdict : on_file_permission(file);
}

SEC(HOOK("inode_follow_link"))
int BPF_PROG(inode_follow_link, struct dentry *dentry, struct inode *inode, bool rcu, int verdict)
{
	return verdict ? verdict : on_follow_link(dentry, inode);
}

SEC(HOOK("ptrace_access_check"))
int BPF_PROG(ptrace_access_check, struct task_struct *child, unsigned int mode, int verdict)
{
	return verdict ? verdict : on_ptrace_access(child, mode);
}

SEC(HOOK("ptrace_traceme"))
int BPF_PROG(ptrace_traceme, struct task_struct *parent, int verdict)
{
	return verdict ? verdict : on_ptrace_traceme(parent);
}

SEC(HOOK("perf_event_alloc"))
int BPF_PROG(perf_event_alloc, struct perf_event *event, int verdict)
{
	return verdict ? verdict : on_perf_event_alloc(event);
}

SEC(HOOK("locked_down"))
int BPF_PROG(locked_down, enum lockdown_reason what, int verdict)
{
	return verdict ? verdict : on_locked_down(what);
}

SEC(HOOK("task_setrlimit"))
int BPF_PROG(task_setrlimit, struct task_struct *task, unsigned int resource, struct rlimit *limit, int verdict)
{
	if (verdict)
		return verdict;
	verdict = on_setrlimit(task, resource, limit);
	return verdict ? verdict : on_query(task, resource, limit);
}

/* If the kernel preempts a task inside one of these programs, other tasks on the same CPU bypass it: the kernel does
 * not let a program be entered twice there (upstream 271de525e1d7 ended this for BPF LSM, in 6.2). Calls that succeeded
 * that way are seen here, with preemption off. Attached on such kernels only, because it runs at every call. */
SEC("raw_tp/sys_exit")
int call_not_denied(struct bpf_raw_tracepoint_args *context)
{
	struct call call;

	read_call(&call, (struct task_struct *)bpf_get_current_task(), (struct pt_regs *)context->args[0]);
	on_call_not_denied(&call, context->args[1]);
	return 0;
}

#endif
