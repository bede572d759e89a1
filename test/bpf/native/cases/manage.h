static struct svc_answer ask(enum svc_request request, __u32 number, __u64 flags)
{
	__u64 context[] = { request, number, flags };
	__u32 first = 0;

	memset(host_lookup(&answer, &first), 0x77, sizeof(struct svc_answer));
	manage((struct bpf_raw_tracepoint_args *)context);
	return *(struct svc_answer *)host_lookup(&answer, &first);
}

CASE(manage_protect, "protect covers a process and tells what it is")
{
	struct actor *victim = make_process(900, init);

	victim->cgroups.dfl_cgrp = make_cgroup(5300, &root_cgroup);
	host.now = 700;
	struct svc_answer told = ask(SVC_REQUEST_PROTECT, 900, 0);

	EQUAL(told.error, 0);
	EQUAL(told.process.tgid, 900);
	EQUAL(told.process.reserved, 0);
	EQUAL(told.process.start, 900007);
	EQUAL(told.cgroup, 5300);
	EQUAL(told.facts, SVC_FACT_COVERED);
	EQUAL(entry_of(victim)->flags, 0);
	EQUAL(entry_of(victim)->since, 701);
}

CASE(manage_crowd, "protect is refused where the cgroup has its share, and a process that is gone gives its place back")
{
	struct actor *victim = make_process(911, init), *next = make_process(912, init);
	__u32 key = 5310;

	victim->cgroups.dfl_cgrp = next->cgroups.dfl_cgrp = make_cgroup(5310, &root_cgroup);
	EQUAL(ask(SVC_REQUEST_PROTECT, 911, 0).error, 0);
	struct svc_crowd *crowd = host_lookup(&crowds, &key);

	crowd->processes = SVC_MOST_OF_ONE;
	EQUAL(ask(SVC_REQUEST_PROTECT, 911, 0).error, 0);
	EQUAL(ask(SVC_REQUEST_PROTECT, 912, 0).error, -EDQUOT);
	EXPECT(!entry_of(next));
	EQUAL(crowd->beyond, 1);
	EQUAL(ask(SVC_REQUEST_FORGET, 911, process_of(victim).start + 1).error, 0);
	EXPECT(entry_of(victim));
	ask(SVC_REQUEST_FORGET, 911, process_of(victim).start);
	EXPECT(!entry_of(victim));
	EQUAL(ask(SVC_REQUEST_PROTECT, 912, 0).error, 0);
	ask(SVC_REQUEST_RELEASE, 912, 0);
	EQUAL(crowd->processes, SVC_MOST_OF_ONE - 1);
}

CASE(manage_inspect, "inspect tells without a change")
{
	struct actor *victim = make_process(901, init);
	struct svc_answer told = ask(SVC_REQUEST_INSPECT, 901, 0);

	EQUAL(told.error, 0);
	EQUAL(told.facts, 0);
	EXPECT(!entry_of(victim));
	protect(victim, 0);
	EQUAL(ask(SVC_REQUEST_INSPECT, 901, 0).facts, SVC_FACT_COVERED);
	EQUAL(ask(99, 1, 0).facts, 0);
}

CASE(manage_release, "release uncovers a process, unless its parents or its cgroup cover it")
{
	struct actor *victim = covered_process(902), *child = make_process(903, victim);

	protect(child, 0);
	EQUAL(ask(SVC_REQUEST_RELEASE, 903, 0).facts, SVC_FACT_COVERED);
	EXPECT(!entry_of(child));
	EQUAL(ask(SVC_REQUEST_RELEASE, 902, 0).facts, 0);
	EXPECT(!found_for(child));
	EQUAL(ask(SVC_REQUEST_RELEASE, 902, 0).error, 0);
}

CASE(manage_gone, "a process that is not there is answered with ESRCH and nothing else")
{
	struct svc_answer told = ask(SVC_REQUEST_PROTECT, 99999, 0);
	const unsigned char *bytes = (const void *)&told;

	EQUAL(told.error, -ESRCH);
	told.error = 0;
	for (unsigned at = 0; at < sizeof(told); at++)
		EQUAL(bytes[at], 0);
	EQUAL(ask(SVC_REQUEST_PROTECT, 0, 0).error, -ESRCH);
	EQUAL(host_map(&processes)->used, 0);
}

CASE(manage_opened, "a process that somebody has opened is covered as late and told so")
{
	struct actor *victim = make_process(904, init);

	open_by_somebody(victim);
	EQUAL(ask(SVC_REQUEST_INSPECT, 904, 0).facts, SVC_FACT_OPENED);
	EQUAL(ask(SVC_REQUEST_PROTECT, 904, 0).facts, SVC_FACT_OPENED | SVC_FACT_COVERED);
	EQUAL(entry_of(victim)->flags, SVC_PROTECTION_LATE);
}

CASE(manage_old, "a process from before the watch is covered as late, one from after it is not")
{
	struct actor *old = make_process(905, init), *young = make_process(906, init);

	rules()->watching_since = 905008;
	EQUAL(ask(SVC_REQUEST_PROTECT, 905, 0).facts, SVC_FACT_OPENED | SVC_FACT_COVERED);
	EQUAL(ask(SVC_REQUEST_PROTECT, 906, 0).facts, SVC_FACT_COVERED);
	EQUAL(entry_of(old)->flags, SVC_PROTECTION_LATE);
	EQUAL(entry_of(young)->flags, 0);
}

CASE(manage_decoy, "a decoy is no late one, though the agent has opened it before")
{
	struct actor *decoy = make_process(907, init);

	rules()->watching_since = SVC_NEVER;
	EQUAL(ask(SVC_REQUEST_PROTECT, 907, SVC_PROTECTION_DECOY).facts, SVC_FACT_COVERED);
	EQUAL(entry_of(decoy)->flags, SVC_PROTECTION_DECOY);
}

CASE(manage_again, "protecting again changes nothing")
{
	struct actor *victim = make_process(908, init);

	ask(SVC_REQUEST_PROTECT, 908, SVC_PROTECTION_DECOY);
	__u64 since = entry_of(victim)->since;

	EQUAL(ask(SVC_REQUEST_PROTECT, 908, 0).error, 0);
	EQUAL(entry_of(victim)->since, since);
	EQUAL(entry_of(victim)->flags, SVC_PROTECTION_DECOY);
}

CASE(manage_full, "a full table is answered with E2BIG; who is in it is found all the same")
{
	make_process(909, init);
	make_process(910, init);
	limit(&processes, 1);
	EQUAL(ask(SVC_REQUEST_PROTECT, 909, 0).error, 0);
	struct svc_answer told = ask(SVC_REQUEST_PROTECT, 910, 0);

	EQUAL(told.error, -E2BIG);
	EQUAL(told.facts, 0);
	EQUAL(told.process.tgid, 910);
	EQUAL(ask(SVC_REQUEST_PROTECT, 909, 0).error, 0);
}

CASE(manage_thread, "the PID of a thread stands for its process")
{
	struct actor *victim = make_process(911, init);

	make_thread(912, victim);
	EQUAL(ask(SVC_REQUEST_PROTECT, 912, 0).process.tgid, 911);
	EXPECT(entry_of(victim));
}

CASE(manage_namespace, "the PID is the one in the agent's namespace, the answer the initial one's")
{
	struct pid_namespace below = { .level = 1 };
	struct pid_namespace *spaces[] = { &initial_namespace, &below };
	struct actor *agent = make_nested(spaces, (int[]){ 920, 1 }, 2);
	struct actor *victim = make_nested(spaces, (int[]){ 921, 5 }, 2);

	become(agent);
	EQUAL(ask(SVC_REQUEST_PROTECT, 5, 0).process.tgid, 921);
	EXPECT(entry_of(victim));
	EQUAL(ask(SVC_REQUEST_INSPECT, 921, 0).error, -ESRCH);
}
