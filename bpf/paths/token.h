/* The service account token by which a wrapper logs in. Its volume is a tmpfs of its own, so that the file system
 * decides: whatever mount, namespace or descriptor leads there, and whichever file the kubelet has put there last. */
#ifndef SVC_ROADS_TOKEN_H
#define SVC_ROADS_TOKEN_H

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

/* Whether the opening of a file is an attempt on a token; fills it in. Folders may be listed, and files written.
 * Pointers are followed as in `is_on_procfs`: each tmpfs of a node pays for what is done here. */
static __noinline bool is_attempt_on_token(struct file *file, struct attempt *attempt)
{
	struct inode *inode = file->f_inode;
	struct svc_volume volume = {};

	if ((inode->i_mode & FILE_KIND) != REGULAR_FILE || !(file->f_mode & MODE_READ))
		return false;
	if (!read_volume(inode->i_sb, &volume))
		return false;
	struct svc_token *token = bpf_map_lookup_elem(&tokens, &volume);

	if (!token || may_open(&volume))
		return false;
	begin_attempt(attempt, SVC_PATH_TOKEN);
	attempt->token = token;
	attempt->process = token->wrapper;
	return true;
}

inlined bool is_on_tmpfs(struct file *file)
{
	return file->f_inode->i_sb->s_magic == TMPFS_MAGIC;
}

inlined int on_token_open(struct file *file)
{
	struct attempt attempt;

	return is_attempt_on_token(file, &attempt) ? judge_file(file, &attempt) : 0;
}

#endif
