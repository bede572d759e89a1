CASE(tracepoint_open, "tracepoint tier, opening environ or mem is reported once, with the reads that follow")
{
	for (int abi = 0; abi < ABIS; abi++) {
		struct actor *victim = covered_process(750 + abi);
		int before = hit_count();

		open_as(abi, bystander, proc_file("environ", victim->pid), 3);
		EQUAL(hit_count(), before + 1);
		EQUAL(last_hit()->path, SVC_PATH_ENVIRON);
		EQUAL(last_hit()->outcome, SVC_OUTCOME_KILLED);
		EQUAL(last_hit()->syscall, NUMBER(abi, openat));
		ENTER(abi, read, 3, 0, 4096);
		ENTER(abi, pread64, 3, 0, 4096);
		EQUAL(hit_count(), before + 1);
		/* who has not been stopped in time is stopped now */
		EQUAL(host.signals, 3 * (abi + 1));
		EQUAL(host.signal, 9);
	}
}

CASE(tracepoint_open_failed, "tracepoint tier, an opening that failed is no attempt, whatever is at descriptors")
{
	struct actor *victim = covered_process(752);

	bystander->descriptors[3] = proc_file("environ", victim->pid);
	ENTER(0, openat, -100, 0, 0);
	end(-13);
	end(DESCRIPTORS);
	EQUAL(hit_count(), 0);
	ENTER(0, openat2, -100, 0, 0);
	end(4);
	EQUAL(hit_count(), 0);
}

CASE(tracepoint_end_of_others, "tracepoint tier, only the ends of openings are looked at")
{
	bystander->descriptors[3] = proc_file("environ", covered_process(753)->pid);
	IN_CALL(0, ptrace, 3);
	end(3);
	EQUAL(hit_count(), 0);
}

CASE(tracepoint_kcore, "tracepoint tier, opening what leads to all memory is reported and killed for")
{
	covered_process(1262);
	open_as(0, bystander, proc_file("kcore", 0), 3);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_KERNEL_MEMORY);
	EQUAL(last_hit()->target_tgid, 0);
	open_as(0, bystander, device_file(0020600, 1 << 20 | 1), 4);
	EQUAL(hit_count(), 2);
	EQUAL(host.signals, 2);
}

CASE(tracepoint_read, "tracepoint tier, reads of a descriptor from before are reported once, in every way to read")
{
	for (int abi = 0; abi < ABIS; abi++) {
		const __u32 ways[] = { NUMBER(abi, read),     NUMBER(abi, write),   NUMBER(abi, pread64),
				       NUMBER(abi, pwrite64), NUMBER(abi, readv),   NUMBER(abi, writev),
				       NUMBER(abi, preadv),   NUMBER(abi, pwritev), NUMBER(abi, preadv2),
				       NUMBER(abi, pwritev2), NUMBER(abi, splice),  NUMBER(abi, copy_file_range) };

		for (unsigned at = 0; at < COUNT(ways); at++) {
			int before = hit_count();

			bystander->descriptors[5] = proc_file("mem", covered_process(2000 + at + 100 * abi)->pid);
			in_call(abi, ways[at], (const __u64[5]){ 5, 6, 6, 6 });
			enter();
			EQUAL(hit_count(), before + 1);
			EQUAL(last_hit()->path, SVC_PATH_OPEN_DESCRIPTOR);
			EQUAL(last_hit()->syscall, ways[at]);
			enter();
			EQUAL(hit_count(), before + 1);
		}
	}
}

CASE(tracepoint_sendfile, "tracepoint tier, sendfile reads its second descriptor, not its first")
{
	bystander->descriptors[5] = proc_file("mem", covered_process(760)->pid);
	for (int abi = 0; abi < ABIS; abi++) {
		ENTER(abi, sendfile, 5, 6, 0, 100);
		EQUAL(hit_count(), 0);
	}
	ENTER(0, sendfile, 6, 5, 0, 100);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_OPEN_DESCRIPTOR);
	bystander->descriptors[4] = proc_file("mem", covered_process(761)->pid);
	ENTER(1, sendfile, 6, 4, 0, 100);
	EQUAL(hit_count(), 2);
	bystander->descriptors[3] = proc_file("mem", covered_process(762)->pid);
	in_call(1, COMPAT_sendfile64, (const __u64[5]){ 6, 3, 0, 100 });
	enter();
	EQUAL(hit_count(), 3);
	in_call(1, COMPAT_sendfile64, (const __u64[5]){ 3, 6, 0, 100 });
	enter();
	EQUAL(hit_count(), 3);
}

CASE(tracepoint_read_own, "tracepoint tier, own files, ordinary files and empty descriptors may be read")
{
	struct actor *victim = covered_process(763);

	bystander->descriptors[1] = &make_file(0xef53, "mem")->file;
	for (int number = 0; number < DESCRIPTORS + 2; number++)
		ENTER(0, read, number, 0, 100);
	ENTER(0, read, -1, 0, 100);
	become(victim);
	open_as(0, victim, proc_file("environ", victim->pid), 2);
	ENTER(0, read, 2, 0, 100);
	EQUAL(hit_count(), 0);
	EQUAL(host.signals, 0);
}

CASE(tracepoint_no_table, "tracepoint tier, a task without descriptors reads nothing")
{
	bystander->task.files = 0;
	ENTER(0, read, 0, 0, 100);
	EQUAL(hit_count(), 0);
}

CASE(tracepoint_wide_descriptor, "tracepoint tier, a descriptor counts by its lower half, as for the kernel")
{
	bystander->descriptors[5] = proc_file("mem", covered_process(764)->pid);
	ENTER(0, read, 0xffffffff00000005, 0, 100);
	EQUAL(hit_count(), 1);
}

CASE(tracepoint_remembers, "tracepoint tier, an opening before its process is covered is remembered")
{
	struct actor *plain = make_process(765, init);

	open_as(0, bystander, proc_file("mem", plain->pid), 3);
	EQUAL(hit_count(), 0);
	EXPECT(is_remembered_opened(plain));
	protect(plain, SVC_PROTECTION_LATE);
	ENTER(0, pread64, 3, 0, 100);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_OPEN_DESCRIPTOR);
}

CASE(tracepoint_path_only, "tracepoint tier, a descriptor that only names a file is no opening")
{
	struct actor *victim = covered_process(766), *plain = make_process(767, init);
	struct file *file = proc_file("mem", victim->pid), *other = proc_file("mem", plain->pid);

	file->f_mode = other->f_mode = 0x4000;
	open_as(0, bystander, file, 3);
	open_as(0, bystander, other, 4);
	EQUAL(hit_count(), 0);
	EXPECT(!is_remembered_opened(plain));
	file->f_mode = 0x1d | 0x8000;
	open_as(0, bystander, file, 3);
	EQUAL(hit_count(), 1);
}
