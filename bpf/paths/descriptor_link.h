/* Memory files of a process, reached through the links in /proc/PID/fd and /proc/PID/map_files. Access is stopped at
 * the link, because the opened file does not show through which process it was reached. */
#ifndef SVC_PATHS_DESCRIPTOR_LINK_H
#define SVC_PATHS_DESCRIPTOR_LINK_H

#include "find/descriptor.h"
#include "find/file.h"
#include "paths/attempt.h"

enum link_kind {
	LINK_OTHER = 0,
	LINK_DESCRIPTOR,
	LINK_MAPPING,
};

inlined enum link_kind kind_of_link(struct dentry *link)
{
	char folder[LONGEST_NAME] = {};
	const unsigned char *at = BPF_CORE_READ(link, d_parent, d_name.name);

	bpf_probe_read_kernel(folder, sizeof(folder), at);
	if (name_is(folder, "fd", 3))
		return LINK_DESCRIPTOR;
	/* "map_files", cut to LONGEST_NAME */
	return name_is(folder, "map_file", LONGEST_NAME) ? LINK_MAPPING : LINK_OTHER;
}

inlined bool is_memory_file(struct file *file)
{
	char name[LONGEST_NAME] = {};
	const unsigned char *at = BPF_CORE_READ(file, f_path.dentry, d_name.name);

	bpf_probe_read_kernel(name, sizeof(name), at);
	return name_is(name, "memfd:", 6);
}

/* A mapping's file is unknown here, so it counts as memory; descriptors also lead to terminals and logs. */
inlined bool leads_to_memory(struct proc_inode *link, struct task_struct *task, enum link_kind kind)
{
	if (kind == LINK_MAPPING)
		return true;
	struct file *file = descriptor_of(task, BPF_CORE_READ(link, fd));

	return file && is_memory_file(file);
}

inlined int on_follow_link(struct dentry *dentry, struct inode *inode)
{
	struct attempt attempt;
	struct call call;

	if (inode->i_sb->s_magic != PROC_MAGIC)
		return 0;
	enum link_kind kind = kind_of_link(dentry);

	if (kind == LINK_OTHER)
		return 0;
	struct proc_inode *link = (void *)inode - bpf_core_field_offset(struct proc_inode, vfs_inode);
	struct task_struct *task = task_of(BPF_CORE_READ(link, pid));

	begin_attempt(&attempt, SVC_PATH_MEMORY);
	if (!task || !aims_at(&attempt, task) || !leads_to_memory(link, task, kind))
		return 0;
	current_call(&call);
	if (call.kind == CALL_STAT)
		return 0;
	attempt.call = call.number;
	return judge(&attempt, -EACCES);
}

#endif
