/* A file on the tmpfs of that UUID, which the current process has open at a number. */
static struct file *token_file(__u8 uuid, int descriptor)
{
	struct open_file *made = make_file(TMPFS_MAGIC, "token");

	made->super.s_uuid.b[3] = uuid;
	made->file.f_mode = 1;
	if (descriptor >= 0)
		((struct actor *)host.current)->descriptors[descriptor] = &made->file;
	return &made->file;
}

static struct svc_token *token_of(__u8 uuid)
{
	struct svc_volume key = { .uuid = { [3] = uuid } };

	return host_lookup(&tokens, &key);
}

CASE(token_guard, "a volume is guarded for who asks, with its name and cgroup, and asking again changes nothing")
{
	struct actor *wrapper = make_process(1500, init);

	wrapper->cgroups.dfl_cgrp = make_cgroup(5500, &root_cgroup);
	token_file(7, 4);
	for (int at = 0; at < 2; at++) {
		EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1500, 4).error, 0);
		EQUAL(token_of(7)->openers, 1);
	}
	EQUAL(token_of(7)->wrapper.tgid, 1500);
	EQUAL(token_of(7)->cgroup, 5500);
	EXPECT(!strcmp(token_of(7)->comm, "task-1500"));
}

CASE(token_guard_others, "it ends with the last of those that may open it, by its end or by being forgotten")
{
	struct actor *one = make_process(1501, init), *other = make_process(1502, init);

	token_file(8, 4);
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1501, 4).error, 0);
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1502, 4).error, 0);
	EQUAL(token_of(8)->openers, 2);
	ask(SVC_REQUEST_FORGET, 1501, process_of(one).start + 1);
	EQUAL(token_of(8)->openers, 2);
	ask(SVC_REQUEST_FORGET, 1501, process_of(one).start);
	ask(SVC_REQUEST_FORGET, 1501, process_of(one).start);
	EQUAL(token_of(8)->openers, 1);
	remove_opener(&(struct svc_process){ .tgid = 1502, .start = process_of(other).start });
	EXPECT(!token_of(8));
}

CASE(token_guard_unknown, "what is no tmpfs with a UUID, no descriptor or no process is not guarded")
{
	struct file *file = token_file(9, 4);

	make_process(1503, init);
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1599, 4).error, -ESRCH);
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1503, 5).error, -EBADF);
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1503, 500).error, -EBADF);
	file->f_inode->i_sb->s_magic = PROC_MAGIC;
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1503, 4).error, -EOPNOTSUPP);
	file->f_inode->i_sb->s_magic = TMPFS_MAGIC;
	file->f_inode->i_sb->s_uuid.b[3] = 0;
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1503, 4).error, -EOPNOTSUPP);
	EXPECT(!token_of(9) && !token_of(0));
}

CASE(token_guard_full, "where a table is full, nothing is guarded, and what is stays so")
{
	make_process(1504, init);
	make_process(1505, init);
	make_process(1506, init);
	token_file(10, 4);
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1504, 4).error, 0);
	limit(&tokens, 1);
	token_file(11, 4);
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1505, 4).error, -E2BIG);
	EXPECT(token_of(10) && !token_of(11));
	/* nothing of the first attempt is left: there is no room for it here either */
	limit(&token_openers, 2);
	limit(&tokens, 2);
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1505, 4).error, 0);
	EQUAL(ask(SVC_REQUEST_GUARD_TOKEN, 1506, 4).error, -E2BIG);
	EQUAL(token_of(11)->openers, 1);
}
