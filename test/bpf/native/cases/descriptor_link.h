/* /proc/PID/<folder>/<number>, which leads to `file` where it is a descriptor. */
static struct open_file *make_link(struct actor *of, const char *folder, unsigned number, struct file *file)
{
	struct open_file *link = make_file(PROC_MAGIC, "0"), *parent = make_file(PROC_MAGIC, folder);

	link->dentry.d_parent = &parent->dentry;
	link->proc.pid = of->pid;
	link->proc.fd = number;
	if (file)
		of->descriptors[number] = file;
	return link;
}

static int follow(struct open_file *link)
{
	return inode_follow_link(ARGUMENTS(WORD(&link->dentry), WORD(&link->proc.vfs_inode), 0, 0));
}

static struct file *memory_file(const char *name)
{
	return &make_file(0x01021994, name)->file;
}

CASE(link_memory_file, "a covered process's memory files are not reached through its descriptors")
{
	struct actor *victim = covered_process(1000);

	IN_CALL(0, openat, -100, 0, 0);
	EQUAL(follow(make_link(victim, "fd", 3, memory_file("memfd:secrets"))), -EACCES);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_MEMORY);
	EQUAL(last_hit()->target_tgid, 1000);
	EQUAL(last_hit()->syscall, NATIVE_openat);
	EQUAL(follow(make_link(victim, "fd", 4, memory_file("memfd:"))), -EACCES);
	EQUAL(hit_count(), 2);
}

CASE(link_audit, "reaching them passes and is reported where nothing is enforced")
{
	rules()->enforce = 0;
	EQUAL(follow(make_link(covered_process(1001), "fd", 3, memory_file("memfd:secrets"))), 0);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
}

CASE(link_ordinary, "other files are reached through a covered process's descriptors, and empty ones lead nowhere")
{
	struct actor *victim = covered_process(1002);

	EQUAL(follow(make_link(victim, "fd", 1, memory_file("null"))), 0);
	EQUAL(follow(make_link(victim, "fd", 2, memory_file("memfd"))), 0);
	EQUAL(follow(make_link(victim, "fd", 5, 0)), 0);
	EQUAL(follow(make_link(victim, "fd", DESCRIPTORS, 0)), 0);
	EQUAL(follow(make_link(victim, "fd", -1U, 0)), 0);
	EQUAL(hit_count(), 0);
}

CASE(link_mapping, "nothing is reached through a covered process's mappings")
{
	EQUAL(follow(make_link(covered_process(1003), "map_files", 0, 0)), -EACCES);
	EQUAL(hit_count(), 1);
}

CASE(link_others, "links in other folders, on other file systems, of oneself and of others are followed")
{
	struct actor *victim = covered_process(1004);
	const char *folders[] = { "1004", "ns", "fdinfo", "f", "map", "task", "" };

	for (unsigned at = 0; at < COUNT(folders); at++)
		EQUAL(follow(make_link(victim, folders[at], 3, memory_file("memfd:secrets"))), 0);
	struct open_file *elsewhere = make_link(victim, "fd", 3, 0);

	elsewhere->super.s_magic = 0xef53;
	EQUAL(follow(elsewhere), 0);
	EQUAL(follow(make_link(init, "fd", 3, memory_file("memfd:secrets"))), 0);
	become(victim);
	EQUAL(follow(make_link(victim, "fd", 3, memory_file("memfd:secrets"))), 0);
	EQUAL(hit_count(), 0);
}

CASE(link_gone, "a link of a process that has gone leads nowhere")
{
	struct actor *victim = covered_process(1005);
	struct open_file *link = make_link(victim, "fd", 3, memory_file("memfd:secrets"));

	victim->pid->tasks[0].first = 0;
	EQUAL(follow(link), 0);
	EQUAL(hit_count(), 0);
}

CASE(link_stat, "a call that only asks what is behind a link is no attempt")
{
	struct open_file *link = make_link(covered_process(1006), "fd", 3, memory_file("memfd:secrets"));

	for (int abi = 0; abi < ABIS; abi++) {
		IN_CALL(abi, statx, -100);
		EQUAL(follow(link), 0);
	}
	EQUAL(hit_count(), 0);
	IN_CALL(0, openat2, -100);
	EQUAL(follow(link), -EACCES);
}
