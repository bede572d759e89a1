/* Access to another process's memory without a call that shows it before: a thread that reads a descriptor which
 * another one is just obtaining, and an io_uring. The kernel locks the memory before it copies any of it, and copies
 * nothing for a task with a pending fatal signal.
 *
 * Other processes' memory is locked for many other purposes: to list mappings, to fork, to swap, to move pages. So the
 * current call and the descriptor that it reads decide. Only used to kill readers. */
#ifndef SVC_PATHS_MEMORY_LOCK_H
#define SVC_PATHS_MEMORY_LOCK_H

#include "paths/calls.h"

/* PF_KTHREAD, a flag of a task. */
#define KERNEL_THREAD 0x00200000

/* For reads whose file is unknown: by an io_uring, or from a descriptor that was closed meanwhile. */
inlined void on_unnamed_read(const struct call *call, enum svc_access_path path, struct mm_struct *memory)
{
	struct attempt attempt;
	struct task_struct *owner = owner_of(memory);

	begin_attempt(&attempt, path);
	if (owner && aims_at(&attempt, owner) && !attempt.forming && is_killing())
		punish(&attempt, call);
}

inlined void on_descriptor_read(const struct call *call, struct mm_struct *memory)
{
	__u32 descriptor = descriptor_read_by(call);

	if (file_of(descriptor))
		on_read(call, descriptor);
	else
		on_unnamed_read(call, SVC_PATH_OPEN_DESCRIPTOR, memory);
}

inlined void on_memory_locking(struct mm_struct *memory)
{
	struct task_struct *reader = (struct task_struct *)bpf_get_current_task();
	struct mm_struct *own = BPF_CORE_READ(reader, mm);
	__u32 flags = BPF_CORE_READ(reader, flags);
	struct call call;

	/* a reader without memory is exiting, and locks its former memory */
	if (!own || own == memory || (flags & KERNEL_THREAD) || is_being_killed(reader))
		return;
	current_call(&call);
	if (call.kind == CALL_IO_URING)
		on_unnamed_read(&call, SVC_PATH_MEMORY, memory);
	else if (call.kind == CALL_READ || call.kind == CALL_COPY)
		on_descriptor_read(&call, memory);
}

#endif
