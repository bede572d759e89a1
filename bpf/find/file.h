/* The target of an open file. Its path proves nothing, because other mounts, bind mounts and descriptors reach the same
 * inode: inode and dentry name decide. */
#ifndef SVC_FIND_FILE_H
#define SVC_FIND_FILE_H

#include "find/pid.h"
#include "kernel.h"

#define PROC_MAGIC 0x9fa0
#define BINFMT_MAGIC 0x42494e4d
#define MODE_WRITE 2
#define CHARACTER_DEVICE 0020000
#define FILE_KIND 0170000
#define DEV_MEM ((1 << 20) | 1)
#define DEV_KMEM ((1 << 20) | 2)
#define LONGEST_NAME 8

/* SVC_PATH_ENVIRON or SVC_PATH_MEMORY with the task, SVC_PATH_KERNEL_MEMORY or SVC_PATH_INTERPRETER without, else
 * SVC_PATH_NONE. */
struct file_target {
	enum svc_access_path path;
	struct task_struct *task;
	/* The memory still exists, but its owner is unknown: its last threads are just ending. */
	bool forsaken;
};

inlined bool name_is(const char *name, const char *wanted, int length)
{
	for (int at = 0; at < length; at++)
		if (name[at] != wanted[at])
			return false;
	return true;
}

inlined enum svc_access_path path_of_name(const char *name)
{
	if (name_is(name, "environ", 8))
		return SVC_PATH_ENVIRON;
	if (name_is(name, "mem", 4))
		return SVC_PATH_MEMORY;
	if (name_is(name, "kcore", 6))
		return SVC_PATH_KERNEL_MEMORY;
	return SVC_PATH_NONE;
}

/* The thread through which a file was opened may be gone while other threads still use the memory: finds its owner. */
inlined struct task_struct *owner_of(struct mm_struct *memory)
{
	if (!memory || !bpf_core_field_exists(memory->owner))
		return 0;
	return BPF_CORE_READ(memory, owner);
}

inlined struct task_struct *owner_of_task(struct task_struct *task)
{
	return owner_of(BPF_CORE_READ(task, mm));
}

inlined struct task_struct *owner_of_memory(struct file *file)
{
	return owner_of(BPF_CORE_READ(file, private_data));
}

inlined bool is_forsaken(struct file *file)
{
	struct mm_struct *memory = BPF_CORE_READ(file, private_data);

	return memory && BPF_CORE_READ(memory, mm_users.counter) > 0;
}

inlined void read_proc_file(struct file *file, struct inode *inode, struct file_target *target)
{
	char name[LONGEST_NAME] = {};
	const unsigned char *at = BPF_CORE_READ(file, f_path.dentry, d_name.name);

	bpf_probe_read_kernel(name, sizeof(name), at);
	enum svc_access_path path = path_of_name(name);

	if (path == SVC_PATH_NONE)
		return;
	struct proc_inode *entry = (void *)inode - bpf_core_field_offset(struct proc_inode, vfs_inode);
	struct pid *pid = BPF_CORE_READ(entry, pid);

	/* /proc/kcore belongs to no process, and a process has no kcore */
	if ((path == SVC_PATH_KERNEL_MEMORY) != !pid)
		return;
	target->task = task_of(pid);
	if (pid && !target->task)
		target->task = owner_of_memory(file);
	if (pid && !target->task) {
		target->forsaken = is_forsaken(file);
		return;
	}
	target->path = path;
}

inlined void read_file_target(struct file *file, struct file_target *target)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	unsigned long magic = BPF_CORE_READ(inode, i_sb, s_magic);

	target->path = SVC_PATH_NONE;
	target->task = 0;
	target->forsaken = false;
	if (magic == PROC_MAGIC) {
		read_proc_file(file, inode, target);
		return;
	}
	if (magic == BINFMT_MAGIC) {
		if (BPF_CORE_READ(file, f_mode) & MODE_WRITE)
			target->path = SVC_PATH_INTERPRETER;
		return;
	}
	if ((BPF_CORE_READ(inode, i_mode) & FILE_KIND) != CHARACTER_DEVICE)
		return;
	__u32 device = BPF_CORE_READ(inode, i_rdev);

	if (device == DEV_MEM || device == DEV_KMEM)
		target->path = SVC_PATH_KERNEL_MEMORY;
}

#endif
