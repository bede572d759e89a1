static struct file *new_pidfd(struct pid *pid)
{
	struct open_file *made = make_file(PIDFS_MAGIC, "");

	made->proc.vfs_inode.i_private = pid;
	return &made->file;
}

static struct file *old_pidfd(const char *name, struct pid *pid)
{
	struct open_file *made = make_file(0x09041934, name);

	made->file.private_data = pid;
	return &made->file;
}

static void try_getfd(struct file *file)
{
	bystander->descriptors[5] = file;
	ENTER(0, pidfd_getfd, 5, 3, 0);
}

CASE(pidfd_styles, "tracepoint tier, a pidfd leads to its process, as a file of pidfs and as an anonymous one")
{
	struct actor *victim = covered_process(740);

	try_getfd(new_pidfd(victim->pid));
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_PIDFD_GETFD);
	EQUAL(last_hit()->target_tgid, 740);
	EQUAL(last_hit()->syscall, NATIVE_pidfd_getfd);
	try_getfd(old_pidfd("[pidfd]", victim->pid));
	EQUAL(hit_count(), 2);
	EQUAL(last_hit()->target_tgid, 740);
}

CASE(pidfd_others, "tracepoint tier, other files, empty descriptors and pidfds of others are no attempt")
{
	struct actor *victim = covered_process(741);

	try_getfd(old_pidfd("[eventfd]", victim->pid));
	try_getfd(old_pidfd("[pidfd]x", victim->pid));
	try_getfd(new_pidfd(init->pid));
	try_getfd(new_pidfd(0));
	try_getfd(0);
	ENTER(0, pidfd_getfd, DESCRIPTORS, 3, 0);
	ENTER(0, pidfd_getfd, -1, 3, 0);
	victim->pid->tasks[0].first = 0;
	try_getfd(new_pidfd(victim->pid));
	EQUAL(hit_count(), 0);
	EQUAL(host.signals, 0);
}
