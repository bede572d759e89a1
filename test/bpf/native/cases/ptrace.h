#define READ_MODE 0x11 /* PTRACE_MODE_READ_REALCREDS */
#define ATTACH_MODE 0x12 /* PTRACE_MODE_ATTACH_REALCREDS */

CASE(ptrace_read, "the right to read is left alone")
{
	struct actor *victim = covered_process(700);

	EQUAL(HOOK_PTRACE(victim, READ_MODE), 0);
	EQUAL(HOOK_PTRACE(victim, 0x09), 0);
	EQUAL(hit_count(), 0);
}

CASE(ptrace_attach, "the right to attach is denied, and the path told by the call that asks for it")
{
	struct actor *victim = covered_process(701);

	for (int abi = 0; abi < ABIS; abi++) {
		struct {
			__u32 number;
			enum svc_access_path path;
		} calls[] = {
			{ NUMBER(abi, process_vm_readv), SVC_PATH_PROCESS_VM },
			{ NUMBER(abi, process_vm_writev), SVC_PATH_PROCESS_VM },
			{ NUMBER(abi, pidfd_getfd), SVC_PATH_PIDFD_GETFD },
			{ NUMBER(abi, ptrace), SVC_PATH_PTRACE },
			{ NUMBER(abi, read), SVC_PATH_PTRACE }, /* /proc/PID/syscall */
		};

		for (unsigned at = 0; at < COUNT(calls); at++) {
			in_call(abi, calls[at].number, (const __u64[5]){ 701 });
			EQUAL(HOOK_PTRACE(victim, ATTACH_MODE), -EPERM);
			EQUAL(last_hit()->path, calls[at].path);
			EQUAL(last_hit()->syscall, calls[at].number);
			EQUAL(last_hit()->target_tgid, 701);
		}
	}
	EQUAL(hit_count(), 5 * ABIS);
}

CASE(ptrace_opening, "where a file is being opened, attaching is denied without a second report")
{
	struct actor *victim = covered_process(702);

	for (int abi = 0; abi < ABIS; abi++) {
		IN_CALL(abi, openat, -100, 0, 0);
		EQUAL(HOOK_PTRACE(victim, ATTACH_MODE), -EPERM);
		IN_CALL(abi, openat2, -100, 0, 0);
		EQUAL(HOOK_PTRACE(victim, ATTACH_MODE), -EPERM);
		IN_CALL(abi, io_uring_enter, 3);
		EQUAL(HOOK_PTRACE(victim, ATTACH_MODE), -EPERM);
	}
	bystander->task.flags = IO_WORKER;
	IN_CALL(0, ptrace, 16, 0, 0);
	EQUAL(HOOK_PTRACE(victim, ATTACH_MODE), -EPERM);
	bystander->task.flags = 0;
	rules()->enforce = 0;
	IN_CALL(0, openat, -100, 0, 0);
	EQUAL(HOOK_PTRACE(victim, ATTACH_MODE), 0);
	EQUAL(hit_count(), 0);
}

CASE(ptrace_old_kernel, "where the kernel does not tell the call, attaching is denied and reported as ptrace")
{
	host.knows_registers = false;
	IN_CALL(0, openat, -100, 0, 0);
	EQUAL(HOOK_PTRACE(covered_process(703), ATTACH_MODE), -EPERM);
	EQUAL(last_hit()->path, SVC_PATH_PTRACE);
	EQUAL(last_hit()->syscall, 0);
}

CASE(ptrace_audit, "attaching passes and is reported where nothing is enforced")
{
	rules()->enforce = 0;
	IN_CALL(0, ptrace, 16, 704);
	EQUAL(HOOK_PTRACE(covered_process(704), ATTACH_MODE), 0);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
}

CASE(ptrace_own, "a process may attach to its own threads, and anybody to what is not covered")
{
	struct actor *victim = covered_process(705), *thread = make_thread(706, victim);

	become(victim);
	EQUAL(HOOK_PTRACE(thread, ATTACH_MODE), 0);
	become(bystander);
	EQUAL(HOOK_PTRACE(init, ATTACH_MODE), 0);
	EQUAL(hit_count(), 0);
}

CASE(traceme_covered, "a covered process may not be traced by its parent, who is reported")
{
	struct actor *parent = make_process(710, init), *victim = make_process(711, parent);

	protect(victim, 0);
	become(victim);
	IN_CALL(0, ptrace, 0);
	EQUAL(HOOK_TRACEME(parent), -EPERM);
	EQUAL(last_hit()->path, SVC_PATH_TRACEME);
	EQUAL(last_hit()->source_tgid, 710);
	EQUAL(last_hit()->target_tgid, 711);
	rules()->enforce = 0;
	EQUAL(HOOK_TRACEME(parent), 0);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
}

CASE(traceme_others, "another process may ask its parent to trace it")
{
	EQUAL(HOOK_TRACEME(init), 0);
	EQUAL(hit_count(), 0);
}
