/* The attack paths as system calls, if hooks cannot deny: a call that is seen here continues, and its caller is killed
 * before it runs again. Reads without a system call of the reader (io_uring) are not seen here: see memory_lock.h.
 *
 * Attempts on a process that is still forming are ignored: most are harmless, and killing cannot be undone.
 * On every tier, readers are killed only if the settings say so; otherwise they are only reported. */
#ifndef SVC_PATHS_CALLS_H
#define SVC_PATHS_CALLS_H

#include "find/descriptor.h"
#include "paths/core_limit.h"
#include "paths/perf.h"
#include "paths/proc_file.h"
#include "paths/ptrace.h"
#include "paths/token.h"

#define TRACEME 0
#define ATTACH 16
#define SEIZE 0x4206
#define PIDFS_MAGIC 0x50494446
#define MODE_PATH 0x4000
#define KILL 9

inlined struct file *file_of(__u32 descriptor)
{
	return descriptor_of((struct task_struct *)bpf_get_current_task(), descriptor);
}

inlined bool is_killing(void)
{
	struct svc_settings *now = current_settings();
	struct svc_process own;

	if (!now || !now->enforce || !now->kill)
		return false;
	/* the agent reads its own decoy */
	identify((struct task_struct *)bpf_get_current_task(), &own);
	return !is_same(&own, &now->agent);
}

inlined enum svc_outcome strike(void)
{
	return is_killing() && !bpf_send_signal(KILL) ? SVC_OUTCOME_KILLED : SVC_OUTCOME_SEEN;
}

inlined void punish(struct attempt *attempt, const struct call *call)
{
	attempt->call = call->number;
	report(attempt, strike());
}

/* O_PATH: nothing can be read through the descriptor until it is opened again. */
inlined bool is_path_only(struct file *file)
{
	return BPF_CORE_READ(file, f_mode) & MODE_PATH;
}

/* The signal is pending but not handled yet: from then on the kernel copies no other process's memory for the task.
 */
inlined bool is_being_killed(struct task_struct *task)
{
	return BPF_CORE_READ(task, pending.signal.sig[0]) & 1UL << (KILL - 1);
}

inlined void on_opened(const struct call *call, __u32 descriptor)
{
	struct file *file = file_of(descriptor);
	struct attempt attempt;

	if (!file || is_path_only(file))
		return;
	if (!is_attempt_by_open(file, &attempt) && !is_attempt_on_token(file, &attempt))
		return;
	if (attempt.forming)
		return;
	if (!claim_report(file, &attempt.process)) {
		/* another thread has read the file before the open ended, and all are being killed for that */
		if (is_being_killed(attempt.source) && is_reported_for_own(file, &attempt.process))
			return;
		/* the report was for another file at the same address */
		remember_reported(file, &attempt.process);
	}
	punish(&attempt, call);
}

inlined __u32 descriptor_read_by(const struct call *call)
{
	return argument(call, is_sendfile(call) ? 1 : 0);
}

inlined void on_read(const struct call *call, __u32 descriptor)
{
	struct file *file = file_of(descriptor);
	struct attempt attempt;

	if (!file || !is_attempt_by_descriptor(file, &attempt) || attempt.forming)
		return;
	/* even if the open was reported, because another thread may be faster than the signal; and before the claim, so
	 * that a thread that finds the report claimed also finds the signal pending */
	enum svc_outcome outcome = strike();

	attempt.call = call->number;
	if (claim_report(file, &attempt.process))
		report(&attempt, outcome);
}

inlined void on_task(const struct call *call, enum svc_access_path path, struct task_struct *task)
{
	struct attempt attempt;

	begin_attempt(&attempt, path);
	if (task && aims_at(&attempt, task) && !attempt.forming)
		punish(&attempt, call);
}

/* A pidfd is a file of pidfs since 6.9, and before an anonymous file with the PID as its private data. */
inlined struct task_struct *task_of_pidfd(__u32 descriptor)
{
	struct file *file = file_of(descriptor);

	if (!file)
		return 0;
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	if (BPF_CORE_READ(inode, i_sb, s_magic) == PIDFS_MAGIC)
		return task_of(BPF_CORE_READ(inode, i_private));
	char name[LONGEST_NAME] = {};
	const unsigned char *at = BPF_CORE_READ(file, f_path.dentry, d_name.name);

	bpf_probe_read_kernel(name, sizeof(name), at);
	return name_is(name, "[pidfd]", 8) ? task_of(BPF_CORE_READ(file, private_data)) : 0;
}

/* The caller is the process that its parent could read: it is killed before the parent can. */
inlined void on_traceme(const struct call *call)
{
	struct task_struct *caller = (struct task_struct *)bpf_get_current_task();
	struct attempt attempt;

	begin_attempt(&attempt, SVC_PATH_TRACEME);
	if (!is_covered_itself(&attempt))
		return;
	attempt.source = BPF_CORE_READ(caller, real_parent);
	punish(&attempt, call);
}

inlined void on_ptrace(const struct call *call)
{
	__u64 request = argument(call, 0);

	if (request == TRACEME)
		on_traceme(call);
	else if (request == ATTACH || request == SEIZE)
		on_task(call, SVC_PATH_PTRACE, find_task(argument(call, 1)));
}

/* Checks the created event, because the attributes in the caller's memory may have changed, or be swapped out, when
 * they are read. */
inlined void on_perf_opened(const struct call *call, __u32 descriptor)
{
	struct file *file = file_of(descriptor);
	struct perf_event *event = file ? BPF_CORE_READ(file, private_data) : 0;
	struct attempt attempt;

	if (!event || !samples_user_memory(BPF_CORE_READ(event, attr.sample_type)))
		return;
	if ((is_on_itself(call) && !is_inherited(event)) || !is_machine_guarded(SVC_LEFT_PERF))
		return;
	begin_attempt(&attempt, SVC_PATH_PERF_STACK);
	punish(&attempt, call);
}

/* prlimit64(pid, resource, new, old); the new limit is a rlimit of two 64-bit numbers on every ABI. */
inlined void on_prlimit(const struct call *call)
{
	struct task_struct *task = find_task(argument(call, 0));
	__u64 wanted[2] = {};

	if (!task || (__u32)argument(call, 1) != CORE_LIMIT || !argument(call, 2))
		return;
	/* a limit that cannot be read counts as one that permits a dump */
	if (bpf_probe_read_user(wanted, sizeof(wanted), (void *)argument(call, 2)) ||
	    permits_dump(task, wanted[0], wanted[1]))
		on_task(call, SVC_PATH_CORE_LIMIT, task);
}

inlined void on_call_entered(const struct call *call)
{
	switch (call->kind) {
	case CALL_READ:
	case CALL_COPY:
		on_read(call, descriptor_read_by(call));
		break;
	case CALL_PROCESS_VM:
		on_task(call, SVC_PATH_PROCESS_VM, find_task(argument(call, 0)));
		break;
	case CALL_PTRACE:
		on_ptrace(call);
		break;
	case CALL_PIDFD_GETFD:
		on_task(call, SVC_PATH_PIDFD_GETFD, task_of_pidfd(argument(call, 0)));
		break;
	case CALL_PRLIMIT:
		on_prlimit(call);
		break;
	default:
		break;
	}
}

/* Attempts that only show in the result. */
inlined void on_call_ended(const struct call *call, long answered)
{
	if (answered < 0)
		return;
	if (call->kind == CALL_OPEN)
		on_opened(call, answered);
	else if (call->kind == CALL_PERF_EVENT_OPEN)
		on_perf_opened(call, answered);
}

/* Whether a call has succeeded that a hook should have denied. */
inlined bool has_gone_through(const struct call *call, long answered)
{
	switch (call->kind) {
	case CALL_READ:
	case CALL_COPY:
	case CALL_PROCESS_VM:
		return answered > 0;
	case CALL_PTRACE:
	case CALL_PIDFD_GETFD:
		return answered >= 0;
	default:
		return false;
	}
}

/* For use in addition to hooks that deny. */
inlined void on_call_not_denied(const struct call *call, long answered)
{
	if (!is_enforcing())
		return;
	/* never both: the verifier would check every path through one combined with every path through the other */
	if (has_gone_through(call, answered))
		on_call_entered(call);
	else
		on_call_ended(call, answered);
}

#endif
