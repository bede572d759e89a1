CASE(memory_denied, "kcore and the devices of memory are denied to everybody, by the running kernel's own numbers")
{
	covered_process(651);
	EQUAL(HOOK_LOCKED_DOWN(LOCKDOWN_KCORE + ENUM_SHIFT), -EPERM);
	EQUAL(HOOK_LOCKED_DOWN(LOCKDOWN_DEV_MEM + ENUM_SHIFT), -EPERM);
	EQUAL(hit_count(), 2);
	EQUAL(last_hit()->path, SVC_PATH_KERNEL_MEMORY);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_DENIED);
	EQUAL(last_hit()->target_tgid, 0);
	EQUAL(last_hit()->target_start, 0);
	EQUAL(last_hit()->source_tgid, 77);
}

CASE(memory_audit, "kcore is reported where nothing is enforced")
{
	covered_process(652);
	rules()->enforce = 0;
	IN_CALL(0, openat, -100, 0, 0);
	EQUAL(HOOK_LOCKED_DOWN(LOCKDOWN_KCORE + ENUM_SHIFT), 0);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
	EQUAL(last_hit()->syscall, NATIVE_openat);
}

CASE(memory_others, "what else lockdown knows is not asked about")
{
	covered_process(653);
	for (int reason = 0; reason < 60; reason++)
		if (reason != LOCKDOWN_KCORE + ENUM_SHIFT && reason != LOCKDOWN_DEV_MEM + ENUM_SHIFT)
			EQUAL(HOOK_LOCKED_DOWN(reason), 0);
	EQUAL(hit_count(), 0);
}

CASE(verdict_before, "what another program has denied is left denied, and not reported")
{
	struct file *file = proc_file("environ", covered_process(650)->pid);

	EQUAL(file_open(ARGUMENTS((__u64)file, -7)), -7);
	EQUAL(file_permission(ARGUMENTS((__u64)file, 4, -7)), -7);
	EQUAL(ptrace_access_check(ARGUMENTS(WORD(&bystander->task), 2, -7)), -7);
	EQUAL(ptrace_traceme(ARGUMENTS(WORD(&bystander->task), -7)), -7);
	EQUAL(locked_down(ARGUMENTS(LOCKDOWN_KCORE + ENUM_SHIFT, -7)), -7);
	EQUAL(task_setrlimit(ARGUMENTS(WORD(&bystander->task), 4, 0, -7)), -7);
	EQUAL(perf_event_alloc(ARGUMENTS(0, -7)), -7);
	EQUAL(inode_follow_link(ARGUMENTS(0, 0, 0, -7)), -7);
	EQUAL(hit_count(), 0);
}
