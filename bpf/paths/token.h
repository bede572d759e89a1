/* The service account token with which a wrapper logs in. Its volume is a separate tmpfs, so the file system decides,
 * whatever mount, namespace or descriptor leads there, and whichever file the kubelet wrote last. */
#ifndef SVC_PATHS_TOKEN_H
#define SVC_PATHS_TOKEN_H

#include "paths/proc_file.h"
#include "tokens.h"

#define REGULAR_FILE 0100000
#define MODE_READ 1

inlined bool may_open(const struct svc_volume *volume)
{
	struct svc_process own;

	identify((struct task_struct *)bpf_get_current_task(), &own);
	struct svc_volume *opened = bpf_map_lookup_elem(&token_openers, &own);

	return (opened && is_same_volume(opened, volume)) || bpf_map_lookup_elem(&token_keepers, &own);
}

/* Whether opening a file of this file system is an attempt on a token; fills it in. */
static __noinline bool is_attempt_on_volume(struct super_block *super, struct attempt *attempt)
{
	struct svc_volume volume = {};

	if (!read_volume(super, &volume))
		return false;
	struct svc_token *token = bpf_map_lookup_elem(&tokens, &volume);

	if (!token || may_open(&volume))
		return false;
	begin_attempt(attempt, SVC_PATH_TOKEN);
	attempt->token = token;
	attempt->process = token->wrapper;
	return true;
}

/* Listing folders and writing files is permitted. */
inlined bool is_reading(__u32 kind, __u32 mode)
{
	return (kind & FILE_KIND) == REGULAR_FILE && mode & MODE_READ;
}

/* For files that the verifier does not know. */
inlined bool is_attempt_on_token(struct file *file, struct attempt *attempt)
{
	struct super_block *super = BPF_CORE_READ(file, f_inode, i_sb);

	return BPF_CORE_READ(super, s_magic) == TMPFS_MAGIC &&
	       is_reading(BPF_CORE_READ(file, f_inode, i_mode), BPF_CORE_READ(file, f_mode)) &&
	       is_attempt_on_volume(super, attempt);
}

/* Runs for every open on the node; reads as in `is_on_procfs`. */
inlined int on_token_open(struct file *file)
{
	struct inode *inode = file->f_inode;
	struct super_block *super = inode->i_sb;
	struct attempt attempt;

	if (super->s_magic != TMPFS_MAGIC || !is_reading(inode->i_mode, file->f_mode))
		return 0;
	return is_attempt_on_volume(super, &attempt) ? judge_file(file, &attempt) : 0;
}

#endif
