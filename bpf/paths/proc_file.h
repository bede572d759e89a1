/* environ and mem of a process, by whatever mount, link, descriptor or io_uring. */
#ifndef SVC_PATHS_PROC_FILE_H
#define SVC_PATHS_PROC_FILE_H

#include "find/file.h"
#include "paths/attempt.h"

inlined void remember_opened(const struct svc_process *process)
{
	struct svc_settings *now = current_settings();
	__u32 once = 1;

	if (!bpf_map_update_elem(&opened, process, &once, BPF_ANY))
		return;
	tally(SVC_TALLY_OPENINGS_LOST);
	/* from now on every process counts as opened, until the agent resets this */
	if (now)
		now->watching_since = SVC_NEVER;
}

inlined void remember_task(struct task_struct *task)
{
	struct svc_process process;

	identify(task, &process);
	if (!is_own_group(&process))
		remember_opened(&process);
}

inlined bool was_reported(struct file *file, const struct svc_process *process)
{
	struct svc_file key = { .file = (__u64)file, .target = *process };

	return bpf_map_lookup_elem(&reported, &key);
}

inlined __u32 own_group(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

inlined bool is_reported_for_own(struct file *file, const struct svc_process *process)
{
	struct svc_file key = { .file = (__u64)file, .target = *process };
	__u32 *reader = bpf_map_lookup_elem(&reported, &key);

	return reader && *reader == own_group();
}

/* An int, because before Linux 6.4 the upper half of the helper's result is not set. */
inlined int mark_reported(struct file *file, const struct svc_process *process, __u64 flags)
{
	struct svc_file key = { .file = (__u64)file, .target = *process };
	__u32 reader = own_group();

	return bpf_map_update_elem(&reported, &key, &reader, flags);
}

inlined void remember_reported(struct file *file, const struct svc_process *process)
{
	mark_reported(file, process, BPF_ANY);
}

/* Whether the caller is the first to report it: threads on several processors may arrive at once. */
inlined bool claim_report(struct file *file, const struct svc_process *process)
{
	return mark_reported(file, process, BPF_NOEXIST) != -EEXIST;
}

/* Whether opening a file is an attempt; fills it in. Other opens are remembered, because the descriptor stays open when
 * the process is covered later. */
static __noinline bool is_attempt_by_open(struct file *file, struct attempt *attempt)
{
	struct file_target target;

	read_file_target(file, &target);
	if (target.path == SVC_PATH_NONE)
		return false;
	begin_attempt(attempt, target.path);
	if (!target.task)
		return is_machine_guarded(target.path == SVC_PATH_INTERPRETER ? SVC_LEFT_INTERPRETERS
									      : SVC_LEFT_KERNEL_MEMORY);
	struct task_struct *owner = owner_of_task(target.task);

	/* a child may share the memory of its parent */
	if (aims_at(attempt, target.task) || (owner && owner != target.task && aims_at(attempt, owner)))
		return true;
	remember_task(target.task);
	if (owner && owner != target.task)
		remember_task(owner);
	return false;
}

/* Whether a read or write of an open file is an attempt; fills it in. */
static __noinline bool is_attempt_by_descriptor(struct file *file, struct attempt *attempt)
{
	struct file_target target;

	read_file_target(file, &target);
	if (target.path == SVC_PATH_NONE || !target.task)
		return false;
	begin_attempt(attempt, SVC_PATH_OPEN_DESCRIPTOR);
	struct task_struct *owner = owner_of_memory(file);

	return aims_at(attempt, target.task) || (owner && owner != target.task && aims_at(attempt, owner));
}

/* The verdict of a hook that denies; an access that is permitted counts as reported. */
inlined int judge_file(struct file *file, struct attempt *attempt)
{
	struct call call;

	current_call(&call);
	attempt->call = call.number;
	int verdict = judge(attempt, -EACCES);

	if (!verdict)
		remember_reported(file, &attempt->process);
	return verdict;
}

/* Runs for every open on the node, and ends here for all but procfs. Reads through pointers that the verifier knows,
 * which needs no helper calls. */
inlined bool is_on_procfs(struct file *file)
{
	return file->f_inode->i_sb->s_magic == PROC_MAGIC;
}

/* For hooks that deny. */
inlined int on_proc_file_open(struct file *file)
{
	struct attempt attempt;

	/* the hook locked_down handles paths to all memory */
	if (!is_attempt_by_open(file, &attempt) || !attempt.target)
		return 0;
	return judge_file(file, &attempt);
}

static __noinline int on_forsaken(struct file *file)
{
	struct file_target target;

	read_file_target(file, &target);
	return target.forsaken && is_enforcing() ? -EACCES : 0;
}

inlined int on_file_permission(struct file *file)
{
	struct attempt attempt;

	if (!is_on_procfs(file))
		return 0;
	if (!is_attempt_by_descriptor(file, &attempt))
		return on_forsaken(file);
	if (!is_enforcing() && was_reported(file, &attempt.process))
		return 0;
	return judge_file(file, &attempt);
}

#endif
