CASE(tracepoint_process_vm, "tracepoint tier, process_vm_readv and writev, by the number in the caller's namespace")
{
	for (int abi = 0; abi < ABIS; abi++) {
		covered_process(800 + abi);
		ENTER(abi, process_vm_readv, 800 + abi, 1, 1, 1, 1);
		EQUAL(last_hit()->path, SVC_PATH_PROCESS_VM);
		EQUAL(last_hit()->target_tgid, 800 + abi);
		EQUAL(last_hit()->syscall, NUMBER(abi, process_vm_readv));
		ENTER(abi, process_vm_writev, 800 + abi, 1, 1, 1, 1);
		EQUAL(hit_count(), 2 * (abi + 1));
	}
	ENTER(0, process_vm_readv, 1);
	ENTER(0, process_vm_readv, 99999);
	EQUAL(hit_count(), 2 * ABIS);
	EQUAL(host.signals, 2 * ABIS);
}

CASE(tracepoint_process_vm_thread, "tracepoint tier, the PID of a thread leads to its process")
{
	make_thread(804, covered_process(803));
	ENTER(0, process_vm_readv, 804);
	EQUAL(last_hit()->target_tgid, 803);
}

CASE(tracepoint_ptrace, "tracepoint tier, ptrace's attach and seize, and no other request")
{
	for (int abi = 0; abi < ABIS; abi++) {
		int before = hit_count();

		covered_process(810 + abi);
		ENTER(abi, ptrace, 16, 810 + abi);
		EQUAL(last_hit()->path, SVC_PATH_PTRACE);
		ENTER(abi, ptrace, 0x4206, 810 + abi);
		EQUAL(hit_count(), before + 2);
		for (int request = 1; request < 16; request++)
			ENTER(abi, ptrace, request, 810 + abi);
		EQUAL(hit_count(), before + 2);
		ENTER(abi, ptrace, 16, 1);
		EQUAL(hit_count(), before + 2);
	}
}

CASE(tracepoint_traceme, "tracepoint tier, a covered process that asks to be traced is ended; its parent is reported")
{
	struct actor *parent = make_process(820, init), *victim = make_process(821, parent);

	become(victim);
	ENTER(0, ptrace, 0);
	EQUAL(hit_count(), 0);
	protect(victim, 0);
	ENTER(0, ptrace, 0);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_TRACEME);
	EQUAL(last_hit()->source_tgid, 820);
	EQUAL(last_hit()->target_tgid, 821);
	EQUAL(host.signals, 1);
}

static __u64 user_limit(__u64 soft, __u64 hard)
{
	__u64 *limit = (void *)host.user;

	limit[0] = soft;
	limit[1] = hard;
	return WORD(limit);
}

static void limit_core(int number, __u64 soft, __u64 hard)
{
	ENTER(0, prlimit64, number, 4, user_limit(soft, hard), 0);
}

CASE(tracepoint_core_limit, "tracepoint tier, the core limit of another, and only where a dump is permitted then")
{
	struct actor *victim = covered_process(830);

	victim->signal.rlim[4] = (struct rlimit){ .rlim_cur = 1, .rlim_max = 10 };
	limit_core(830, 1, 10);
	limit_core(830, 1, 0);
	limit_core(0, 9, 9);
	limit_core(1, 9, 9);
	ENTER(0, prlimit64, 830, 4, 0, 1); /* asks what it is */
	ENTER(0, prlimit64, 830, 7, user_limit(9, 9), 0);
	EQUAL(hit_count(), 0);
	limit_core(830, 2, 10);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_CORE_LIMIT);
	limit_core(830, 1, 11);
	EQUAL(hit_count(), 2);
	limit_core(830, 0, 10);
	EQUAL(hit_count(), 3);
}

CASE(tracepoint_core_limit_unreadable, "tracepoint tier, a limit that cannot be read counts as one that permits a dump")
{
	covered_process(831);
	for (int abi = 0; abi < ABIS; abi++)
		ENTER(abi, prlimit64, 831, 4, 64, 0);
	EQUAL(hit_count(), ABIS);
}

CASE(tracepoint_own, "tracepoint tier, a process does all this to itself")
{
	struct actor *victim = covered_process(840);

	become(victim);
	ENTER(0, process_vm_readv, 840);
	ENTER(0, ptrace, 16, 840);
	ENTER(0, prlimit64, 840, 4, 1, 0);
	EQUAL(hit_count(), 0);
	EQUAL(host.signals, 0);
}
