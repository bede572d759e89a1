CASE(open_audit, "opening passes and is reported once, with the reads that follow, where nothing is enforced")
{
	struct file *file = proc_file("environ", covered_process(723)->pid);

	rules()->enforce = 0;
	EQUAL(HOOK_FILE_OPEN(file), 0);
	EQUAL(HOOK_FILE_PERMISSION(file), 0);
	EQUAL(HOOK_FILE_PERMISSION(file), 0);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
	EQUAL(last_hit()->path, SVC_PATH_ENVIRON);
}

CASE(open_own, "a process may open its own files, which does not make it opened")
{
	struct actor *victim = covered_process(724), *plain = make_process(725, init);

	become(victim);
	EQUAL(HOOK_FILE_OPEN(proc_file("environ", victim->pid)), 0);
	become(plain);
	EQUAL(HOOK_FILE_OPEN(proc_file("mem", plain->pid)), 0);
	EQUAL(hit_count(), 0);
	EXPECT(!is_remembered_opened(victim) && !is_remembered_opened(plain));
}

CASE(open_uncovered, "opening the files of a process that is not covered passes and is remembered")
{
	struct actor *plain = make_process(726, init);

	EQUAL(HOOK_FILE_OPEN(proc_file("environ", plain->pid)), 0);
	EQUAL(hit_count(), 0);
	EXPECT(is_remembered_opened(plain));
	EXPECT(!is_remembered_opened(bystander));
}

CASE(open_thread_uncovered, "opening a thread's files makes its whole process opened")
{
	struct actor *plain = make_process(727, init);

	EQUAL(HOOK_FILE_OPEN(proc_file("mem", make_thread(728, plain)->pid)), 0);
	EXPECT(is_remembered_opened(plain));
}

CASE(open_table_full, "once openings cannot be remembered, every process counts as opened")
{
	struct actor *first = make_process(730, init), *second = make_process(731, init);
	struct svc_process process = process_of(make_process(732, init));

	limit(&opened, 1);
	HOOK_FILE_OPEN(proc_file("mem", first->pid));
	EXPECT(!is_opened(&process));
	HOOK_FILE_OPEN(proc_file("mem", second->pid));
	EQUAL(tally_of(SVC_TALLY_OPENINGS_LOST), 1);
	EXPECT(rules()->watching_since == SVC_NEVER);
	EXPECT(is_opened(&process));
}

CASE(open_watching, "a process that is older than the watch counts as opened, and so does everyone without settings")
{
	struct svc_process process = process_of(bystander);

	rules()->watching_since = process.start;
	EXPECT(!is_opened(&process));
	rules()->watching_since = process.start + 1;
	EXPECT(is_opened(&process));
	rules()->watching_since = 0;
	forget_settings();
	EXPECT(is_opened(&process));
}

CASE(open_memory, "opening what leads to all memory is left to the hook for that")
{
	covered_process(1263);
	EQUAL(HOOK_FILE_OPEN(proc_file("kcore", 0)), 0);
	EQUAL(HOOK_FILE_OPEN(device_file(0020600, 1 << 20 | 1)), 0);
	EQUAL(hit_count(), 0);
}

CASE(open_ordinary, "opening any other file passes")
{
	struct actor *victim = covered_process(733);

	EQUAL(HOOK_FILE_OPEN(proc_file("status", victim->pid)), 0);
	EQUAL(HOOK_FILE_OPEN(&make_file(0xef53, "environ")->file), 0);
	EQUAL(hit_count(), 0);
}

CASE(descriptor_denied, "a descriptor from before is of no use once its process is covered; each read is reported")
{
	struct actor *victim = make_process(734, init);
	struct file *file = proc_file("mem", victim->pid);

	EQUAL(HOOK_FILE_OPEN(file), 0);
	EQUAL(HOOK_FILE_PERMISSION(file), 0);
	protect(victim, SVC_PROTECTION_LATE);
	IN_CALL(0, pread64, 3);
	EQUAL(HOOK_FILE_PERMISSION(file), -EACCES);
	EQUAL(last_hit()->path, SVC_PATH_OPEN_DESCRIPTOR);
	EQUAL(last_hit()->syscall, NATIVE_pread64);
	EQUAL(HOOK_FILE_PERMISSION(file), -EACCES);
	EQUAL(hit_count(), 2);
}

CASE(descriptor_audit, "reads of one descriptor are reported once where nothing is enforced")
{
	struct actor *victim = covered_process(735);
	struct file *file = proc_file("mem", victim->pid), *other = proc_file("mem", victim->pid);

	rules()->enforce = 0;
	for (int at = 0; at < 3; at++)
		EQUAL(HOOK_FILE_PERMISSION(file), 0);
	EQUAL(hit_count(), 1);
	EQUAL(HOOK_FILE_PERMISSION(other), 0);
	EQUAL(hit_count(), 2);
}

CASE(descriptor_audit_then_enforce, "what was let pass before is denied when enforcing begins")
{
	struct file *file = proc_file("environ", covered_process(736)->pid);

	rules()->enforce = 0;
	EQUAL(HOOK_FILE_OPEN(file), 0);
	rules()->enforce = 1;
	EQUAL(HOOK_FILE_PERMISSION(file), -EACCES);
	EQUAL(hit_count(), 2);
}

CASE(descriptor_own, "a process may read its own files, and anybody those of kcore that it has open")
{
	struct actor *victim = covered_process(737);

	EQUAL(HOOK_FILE_PERMISSION(proc_file("kcore", 0)), 0);
	become(victim);
	EQUAL(HOOK_FILE_PERMISSION(proc_file("mem", victim->pid)), 0);
	EQUAL(hit_count(), 0);
}

CASE(open_shared, "memory that a process shares with a covered one is covered, and remembered for both")
{
	struct actor *victim = covered_process(738), *sharing = make_process(739, init);
	struct actor *plain = make_process(746, init), *other = make_process(747, init);

	sharing->task.mm = victim->task.mm;
	EQUAL(HOOK_FILE_OPEN(proc_file("mem", sharing->pid)), -EACCES);
	EQUAL(last_hit()->target_tgid, 738);
	other->task.mm = plain->task.mm;
	EQUAL(HOOK_FILE_OPEN(proc_file("mem", other->pid)), 0);
	EXPECT(is_remembered_opened(plain) && is_remembered_opened(other));
}

CASE(descriptor_shared, "a descriptor counts for whoever has its memory now")
{
	struct actor *victim = covered_process(748), *sharing = make_process(749, init);
	struct file *file = proc_file("mem", sharing->pid);

	EQUAL(HOOK_FILE_PERMISSION(file), 0);
	file->private_data = victim->task.mm;
	EQUAL(HOOK_FILE_PERMISSION(file), -EACCES);
	EQUAL(last_hit()->target_tgid, 748);
}

CASE(read_forsaken, "memory without a known owner is read by nobody, unless it is gone or nothing enforced")
{
	struct actor *gone = make_process(790, init);
	struct mm_struct memory = { .mm_users.counter = 1 };
	struct file *file = proc_file("mem", gone->pid);

	file->private_data = &memory;
	gone->pid->tasks[0].first = 0;
	EQUAL(HOOK_FILE_PERMISSION(file), -EACCES);
	EQUAL(hit_count(), 0);
	rules()->enforce = 0;
	EQUAL(HOOK_FILE_PERMISSION(file), 0);
	rules()->enforce = 1;
	memory.mm_users.counter = 0;
	EQUAL(HOOK_FILE_PERMISSION(file), 0);
}
