/* From the number of a descriptor to its file. */
#ifndef SVC_FIND_DESCRIPTOR_H
#define SVC_FIND_DESCRIPTOR_H

#include "kernel.h"

inlined struct file *descriptor_of(struct task_struct *task, __u32 number)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file *file = 0;

	if (number >= BPF_CORE_READ(table, max_fds))
		return 0;
	struct file **files = BPF_CORE_READ(table, fd);

	bpf_probe_read_kernel(&file, sizeof(file), files + number);
	return file;
}

#endif
