static int set_limit(struct actor *of, unsigned resource, unsigned long soft, unsigned long hard)
{
	struct rlimit limit = { .rlim_cur = soft, .rlim_max = hard };

	return HOOK_SETRLIMIT(of, resource, &limit);
}

static struct actor *limited_process(int number)
{
	struct actor *made = covered_process(number);

	made->signal.rlim[4] = (struct rlimit){ .rlim_cur = 1, .rlim_max = 10 };
	return made;
}

CASE(core_raised, "the core limit of a covered process is not to be raised from outside")
{
	struct actor *victim = limited_process(660);

	IN_CALL(0, prlimit64, 660, 4, 1);
	EQUAL(set_limit(victim, 4, 2, 10), -EPERM);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->path, SVC_PATH_CORE_LIMIT);
	EQUAL(last_hit()->target_tgid, 660);
	EQUAL(last_hit()->syscall, NATIVE_prlimit64);
	EQUAL(set_limit(victim, 4, 1, 11), -EPERM);
	EQUAL(set_limit(victim, 4, -1UL, -1UL), -EPERM);
	rules()->enforce = 0;
	EQUAL(set_limit(victim, 4, 2, 10), 0);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
	EQUAL(hit_count(), 4);
}

CASE(core_lowered_from_one, "nor is it to be lowered from 1, because at 0 the kernel dumps to a pipe")
{
	struct actor *victim = limited_process(665);

	IN_CALL(0, prlimit64, 665, 4, 1);
	EQUAL(set_limit(victim, 4, 0, 10), -EPERM);
	EQUAL(set_limit(victim, 4, 0, 0), -EPERM);
	EQUAL(hit_count(), 2);
	EQUAL(last_hit()->path, SVC_PATH_CORE_LIMIT);
	EQUAL(last_hit()->target_tgid, 665);
}

CASE(core_lowered, "it may be lowered otherwise, or left as it is")
{
	struct actor *victim = limited_process(664);

	EQUAL(set_limit(victim, 4, 1, 10), 0);
	EQUAL(set_limit(victim, 4, 1, 5), 0);
	victim->signal.rlim[4].rlim_cur = 8;
	EQUAL(set_limit(victim, 4, 0, 0), 0);
	EQUAL(set_limit(victim, 4, 1, 10), 0);
	EQUAL(hit_count(), 0);
}

CASE(core_own, "a covered process may set its own core limit")
{
	struct actor *victim = limited_process(661);

	become(victim);
	EQUAL(set_limit(victim, 4, 5, 10), 0);
	become(make_thread(662, victim));
	EQUAL(set_limit(victim, 4, 5, 10), 0);
	EQUAL(hit_count(), 0);
}

CASE(core_others, "other limits, and those of others, are left alone")
{
	struct actor *victim = limited_process(663);

	for (unsigned resource = 0; resource < 16; resource++)
		EQUAL(set_limit(resource == 4 ? init : victim, resource, 99, 99), 0);
	EQUAL(hit_count(), 0);
}
