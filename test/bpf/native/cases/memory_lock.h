/* The memory of `of` is about to be locked by the current task, in the call that it is in. */
static void lock_memory(struct actor *of)
{
	__u64 context[] = { WORD(&of->memory), 0, 0 };

	memory_locking((struct bpf_raw_tracepoint_args *)context);
}

/* A fatal signal is pending, as the kernel leaves it with every thread. */
static void be_killed(struct actor *actor)
{
	actor->task.pending.signal.sig[0] = 1UL << 8;
}

CASE(lock_coming_descriptor,
     "locking of memory, a read whose descriptor came after its entry is killed and reported once")
{
	for (int abi = 0; abi < ABIS; abi++) {
		struct actor *victim = covered_process(900 + abi);
		int before = hit_count(), signals = host.signals;

		bystander->descriptors[3] = 0;
		ENTER(abi, pread64, 3, 0, 100);
		EQUAL(hit_count(), before);
		bystander->descriptors[3] = proc_file("environ", victim->pid);
		lock_memory(victim);
		EQUAL(host.signals, signals + 1);
		EQUAL(hit_count(), before + 1);
		EQUAL(last_hit()->outcome, SVC_OUTCOME_KILLED);
		EQUAL(last_hit()->path, SVC_PATH_OPEN_DESCRIPTOR);
		EQUAL(last_hit()->syscall, NUMBER(abi, pread64));
		EQUAL(last_hit()->target_tgid, victim->task.tgid);
		lock_memory(victim);
		EQUAL(hit_count(), before + 1);
	}
}

CASE(lock_then_opened, "locking of memory, an opening whose file a thread has read by then is not reported again")
{
	struct actor *victim = covered_process(905), *thread = make_thread(906, bystander);
	struct file *file = proc_file("environ", victim->pid);

	thread->descriptors[3] = bystander->descriptors[3] = file;
	become(thread);
	IN_CALL(0, pread64, 3, 0, 100);
	lock_memory(victim);
	EQUAL(hit_count(), 1);
	be_killed(bystander);
	become(bystander);
	IN_CALL(0, openat, -100, 0, 0);
	end(3);
	EQUAL(hit_count(), 1);
}

CASE(lock_reused_address, "locking of memory, an opening is reported where another file of that address was before")
{
	struct actor *victim = covered_process(907), *other = make_process(908, init);
	struct file *file = proc_file("environ", victim->pid);

	become(other);
	open_as(0, other, file, 3);
	be_killed(bystander);
	become(bystander);
	open_as(0, bystander, file, 3);
	EQUAL(hit_count(), 2);
	open_as(0, bystander, file, 3);
	EQUAL(hit_count(), 2);
	bystander->task.pending.signal.sig[0] = 0;
	open_as(0, bystander, file, 3);
	EQUAL(hit_count(), 3);
}

CASE(lock_closed_descriptor, "locking of memory, a read whose descriptor is gone again is killed")
{
	struct actor *victim = covered_process(910);

	IN_CALL(0, pread64, 3, 0, 100);
	lock_memory(victim);
	EQUAL(host.signals, 1);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_OPEN_DESCRIPTOR);
	lock_memory(make_process(911, init));
	EQUAL(hit_count(), 1);
}

CASE(lock_io_uring, "locking of memory, a read of an io_uring is killed, by the caller and by a worker")
{
	struct actor *victim = covered_process(915);

	IN_CALL(0, io_uring_enter, 5, 1, 1);
	lock_memory(victim);
	EQUAL(host.signals, 1);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_KILLED);
	EQUAL(last_hit()->path, SVC_PATH_MEMORY);
	EQUAL(last_hit()->syscall, NATIVE_io_uring_enter);
	IN_CALL(0, statx, 5);
	lock_memory(victim);
	EQUAL(host.signals, 1);
	bystander->task.flags = IO_WORKER;
	lock_memory(victim);
	EQUAL(host.signals, 2);
	EQUAL(hit_count(), 2);
	EQUAL(last_hit()->syscall, NATIVE_io_uring_enter);
	lock_memory(make_process(916, init));
	EQUAL(host.signals, 2);
}

CASE(lock_ordinary, "locking of memory, who lists mappings or moves pages is let alone")
{
	struct actor *victim = covered_process(920);
	const char *names[] = { "cmdline", "maps", "smaps", "smaps_rollup", "pagemap", "clear_refs" };
	const __u32 calls[] = { NATIVE_openat, NATIVE_process_vm_readv, NATIVE_ptrace, NATIVE_statx, NATIVE_prlimit64 };

	for (unsigned at = 0; at < COUNT(names); at++) {
		bystander->descriptors[3] = proc_file(names[at], victim->pid);
		IN_CALL(0, pread64, 3, 0, 100);
		lock_memory(victim);
	}
	/* a write to cpuset.mems, or to uprobe_events */
	bystander->descriptors[3] = &make_file(0x63677270, "cpuset.mems")->file;
	IN_CALL(0, write, 3, 0, 100);
	lock_memory(victim);
	for (unsigned at = 0; at < COUNT(calls); at++) {
		in_call(0, calls[at], (const __u64[5]){ 7 });
		lock_memory(victim);
	}
	EQUAL(host.signals, 0);
	EQUAL(hit_count(), 0);
}

CASE(lock_own, "locking of memory, one's own, that of one's threads and that which is shared are let alone")
{
	struct actor *victim = covered_process(930), *thread = make_thread(931, victim),
		     *child = make_process(932, victim);

	become(victim);
	IN_CALL(0, io_uring_enter, 5, 1, 1);
	lock_memory(victim);
	lock_memory(thread);
	/* of vfork */
	child->task.mm = &victim->memory;
	become(child);
	lock_memory(victim);
	EQUAL(host.signals, 0);
}

CASE(lock_kernel, "locking of memory, the kernel's own threads are let alone, and memory that is nobody's")
{
	struct actor *victim = covered_process(940);

	IN_CALL(0, io_uring_enter, 5, 1, 1);
	bystander->task.flags = 0x00200000;
	lock_memory(victim);
	bystander->task.flags = 0;
	victim->memory.owner = 0;
	lock_memory(victim);
	host.knows_registers = false;
	victim->memory.owner = &victim->task;
	lock_memory(victim);
	EQUAL(host.signals, 0);
}

CASE(lock_ending, "locking of memory, who gives up its own while it ends is no reader")
{
	struct actor *victim = covered_process(960);

	bystander->descriptors[3] = proc_file("environ", victim->pid);
	IN_CALL(0, pread64, 3, 0, 100);
	bystander->task.mm = 0;
	lock_memory(bystander);
	EQUAL(hit_count(), 0);
	EQUAL(host.signals, 0);
}

CASE(lock_being_killed, "locking of memory, who is being killed already is not reported again")
{
	struct actor *victim = covered_process(945);

	be_killed(bystander);
	IN_CALL(0, io_uring_enter, 5, 1, 1);
	lock_memory(victim);
	EQUAL(hit_count(), 0);
	/* another signal is no end */
	bystander->task.pending.signal.sig[0] = ~(1UL << 8);
	lock_memory(victim);
	EQUAL(hit_count(), 1);
}

CASE(lock_not_asked, "locking of memory, nothing is done to the agent, nor where nobody is to be killed")
{
	struct actor *victim = covered_process(950), *agent = make_process(951, init);

	rules()->agent = process_of(agent);
	become(agent);
	IN_CALL(0, io_uring_enter, 5, 1, 1);
	lock_memory(victim);
	become(bystander);
	rules()->kill = 0;
	lock_memory(victim);
	rules()->kill = 1;
	rules()->enforce = 0;
	lock_memory(victim);
	EQUAL(host.signals, 0);
	EQUAL(hit_count(), 0);
}

CASE(lock_forming, "locking of memory, a process that is only forming is nobody's concern")
{
	struct actor *child = make_process(955, init);

	child->task.__state = 0x800;
	IN_CALL(0, io_uring_enter, 5, 1, 1);
	lock_memory(child);
	EQUAL(host.signals, 0);
	EQUAL(hit_count(), 0);
}
