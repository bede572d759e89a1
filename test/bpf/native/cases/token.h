static struct actor *wrapper_of(int number, struct file *file)
{
	struct actor *made = make_process(number, init);

	((struct actor *)host.current)->descriptors[6] = file;
	if (ask(SVC_REQUEST_GUARD_TOKEN, number, 6).error)
		abort();
	return made;
}

CASE(token_denied, "a token opens for the wrapper and the kubelet; who else tries is denied and told with its wrapper")
{
	struct file *file = token_file(20, -1);
	struct actor *wrapper = wrapper_of(1510, file), *kubelet = make_process(1511, init);

	EQUAL(ask(SVC_REQUEST_KEEP_TOKENS, 1511, 0).error, 0);
	IN_CALL(0, openat, 3);
	EQUAL(HOOK_FILE_OPEN(file), -EACCES);
	EQUAL(last_hit()->path, SVC_PATH_TOKEN);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_DENIED);
	EQUAL(last_hit()->syscall, NATIVE_openat);
	EQUAL(last_hit()->target_tgid, 1510);
	EQUAL(last_hit()->target_start, process_of(wrapper).start);
	EXPECT(!strcmp(last_hit()->target_comm, "task-1510"));
	become(make_process(1512, wrapper));
	EQUAL(HOOK_FILE_OPEN(file), -EACCES);
	become(wrapper);
	EQUAL(HOOK_FILE_OPEN(file), 0);
	become(make_thread(1513, wrapper));
	EQUAL(HOOK_FILE_OPEN(file), 0);
	become(kubelet);
	EQUAL(HOOK_FILE_OPEN(file), 0);
	EQUAL(hit_count(), 2);
}

CASE(token_of_others, "a wrapper does not open the token of another pod")
{
	struct file *file = token_file(21, -1);
	struct actor *other;

	wrapper_of(1520, file);
	other = wrapper_of(1521, token_file(22, -1));
	become(other);
	EQUAL(HOOK_FILE_OPEN(file), -EACCES);
}

CASE(token_left, "folders and writing are nobody's business, nor is any other tmpfs")
{
	struct file *file = token_file(23, -1), *written = token_file(23, -1), *folder = token_file(23, -1);

	wrapper_of(1530, file);
	written->f_mode = 2;
	folder->f_inode->i_mode = 0040755;
	EQUAL(HOOK_FILE_OPEN(written), 0);
	EQUAL(HOOK_FILE_OPEN(folder), 0);
	EQUAL(HOOK_FILE_OPEN(token_file(24, -1)), 0);
	EQUAL(HOOK_FILE_OPEN(token_file(0, -1)), 0);
	EQUAL(hit_count(), 0);
	EQUAL(HOOK_FILE_OPEN(file), -EACCES);
}

CASE(token_audit, "where nothing is enforced, opening it passes and is reported")
{
	struct file *file = token_file(25, -1);

	wrapper_of(1540, file);
	rules()->enforce = 0;
	EQUAL(HOOK_FILE_OPEN(file), 0);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
}
