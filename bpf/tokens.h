/* Who may open a wrapper's service account token: the processes of its pod that the agent let in, and the kubelet. */
#ifndef SVC_TOKENS_H
#define SVC_TOKENS_H

#include "find/descriptor.h"
#include "find/process.h"

#define TMPFS_MAGIC 0x01021994

inlined bool is_same_volume(const struct svc_volume *one, const struct svc_volume *other)
{
	const __u64 *left = (const __u64 *)one, *right = (const __u64 *)other;

	return left[0] == right[0] && left[1] == right[1];
}

/* False for a file system without a UUID: a tmpfs before Linux 5.13. */
inlined bool read_volume(struct super_block *super, struct svc_volume *volume)
{
	const struct svc_volume none = {};

	bpf_core_read(volume, sizeof(*volume), &super->s_uuid);
	return !is_same_volume(volume, &none);
}

inlined int add_keeper(const struct svc_process *process)
{
	__u32 once = 1;

	return bpf_map_update_elem(&token_keepers, process, &once, BPF_ANY) ? -E2BIG : 0;
}

/* The volume is guarded while any process lives that may open it. */
inlined void remove_opener(const struct svc_process *process)
{
	struct svc_volume *found = bpf_map_lookup_elem(&token_openers, process);
	struct svc_volume volume;
	struct svc_token *token;

	if (!found)
		return;
	volume = *found;
	if (bpf_map_delete_elem(&token_openers, process))
		return;
	token = bpf_map_lookup_elem(&tokens, &volume);
	if (!token)
		return;
	__sync_fetch_and_add(&token->openers, -1);
	if (token->openers <= 0)
		bpf_map_delete_elem(&tokens, &volume);
}

inlined int add_token(struct task_struct *task, const struct svc_process *process, const struct svc_volume *volume)
{
	struct svc_token fresh = { .wrapper = *process, .cgroup = cgroup_of(task) };
	struct svc_token *token;

	bpf_core_read_str(fresh.comm, SVC_COMM, &task->comm);
	/* an int, because before Linux 6.4 the upper half of the helper's result is not set */
	int error = bpf_map_update_elem(&tokens, volume, &fresh, BPF_NOEXIST);

	if (error && error != -EEXIST)
		return -E2BIG;
	token = bpf_map_lookup_elem(&tokens, volume);
	/* the last process that might open it has just ended and removed it */
	if (!token)
		return -ESRCH;
	__sync_fetch_and_add(&token->openers, 1);
	return 0;
}

/* The agent may have let the process in while it still ran the container runtime's program. */
inlined void rename_token(struct task_struct *task, const struct svc_process *process)
{
	struct svc_volume *volume = bpf_map_lookup_elem(&token_openers, process);
	struct svc_token *token = volume ? bpf_map_lookup_elem(&tokens, volume) : 0;

	if (token && is_same(&token->wrapper, process))
		bpf_core_read_str(token->comm, SVC_COMM, &task->comm);
}

/* Lets the process in before the guard takes effect for others. */
inlined int guard_token(struct task_struct *task, const struct svc_process *process, __u32 descriptor)
{
	struct file *file = descriptor_of((struct task_struct *)bpf_get_current_task(), descriptor);
	struct svc_volume volume = {};
	int error;

	if (!file)
		return -EBADF;
	struct super_block *super = BPF_CORE_READ(file, f_inode, i_sb);

	if (BPF_CORE_READ(super, s_magic) != TMPFS_MAGIC || !read_volume(super, &volume))
		return -EOPNOTSUPP;
	error = bpf_map_update_elem(&token_openers, process, &volume, BPF_NOEXIST);
	if (error)
		return error == -EEXIST ? 0 : -E2BIG;
	error = add_token(task, process, &volume);
	if (error)
		bpf_map_delete_elem(&token_openers, process);
	return error;
}

#endif
