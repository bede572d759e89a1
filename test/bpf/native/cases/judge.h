static int judged(struct actor *victim, int error)
{
	struct attempt attempt;

	begin_attempt(&attempt, SVC_PATH_PROCESS_VM);
	EXPECT(aims_at(&attempt, &victim->task));
	attempt.call = 310;
	return judge(&attempt, error);
}

CASE(judge_enforce, "an attempt is denied and reported with everything that is known of both sides")
{
	struct actor *victim = covered_process(600), *thread = make_thread(78, bystander);

	victim->cgroups.dfl_cgrp = make_cgroup(5100, &root_cgroup);
	bystander->cgroups.dfl_cgrp = make_cgroup(5101, &root_cgroup);
	snprintf(victim->task.comm, 16, "a-name-of-15-ch");
	become(thread);
	host.now = 41;
	EQUAL(judged(victim, -EPERM), -EPERM);
	EQUAL(hit_count(), 1);
	struct svc_hit *hit = last_hit();

	EQUAL(hit->time, 42);
	EQUAL(hit->path, SVC_PATH_PROCESS_VM);
	EQUAL(hit->outcome, SVC_OUTCOME_DENIED);
	EQUAL(hit->reserved, 0);
	EQUAL(hit->syscall, 310);
	EQUAL(hit->source_tgid, 77);
	EQUAL(hit->source_tid, 78);
	EQUAL(hit->source_uid, 100078);
	EQUAL(hit->source_cgroup, 5101);
	EXPECT(!strcmp(hit->source_comm, "task-78"));
	EQUAL(hit->target_tgid, 600);
	EQUAL(hit->target_start, 600007);
	EQUAL(hit->target_cgroup, 5100);
	EXPECT(!strcmp(hit->target_comm, "a-name-of-15-ch"));
	EXPECT(!host.wakes);
}

CASE(judge_clean, "a hit holds nothing of the ring's memory that was there before")
{
	judged(covered_process(601), -EPERM);
	const unsigned char *bytes = (const void *)last_hit();

	for (unsigned at = 0; at < sizeof(struct svc_hit); at++)
		EXPECT(bytes[at] != 0xee);
	for (unsigned at = strlen(last_hit()->source_comm); at < SVC_COMM; at++)
		EQUAL(last_hit()->source_comm[at], 0);
}

CASE(judge_audit, "an attempt passes and is reported where nothing is enforced")
{
	rules()->enforce = 0;
	EQUAL(judged(covered_process(602), -EPERM), 0);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
}

CASE(judge_error, "the hook's own error is answered")
{
	struct actor *victim = covered_process(603);

	EQUAL(judged(victim, -EACCES), -EACCES);
	EQUAL(judged(victim, -EPERM), -EPERM);
}

CASE(judge_generation, "a set of programs that is not the current one enforces and does not report")
{
	struct actor *victim = covered_process(604);

	rules()->generation = generation + 1;
	EQUAL(judged(victim, -EPERM), -EPERM);
	EQUAL(hit_count(), 0);
	EQUAL(tally_of(SVC_TALLY_HITS_LOST), 0);
	rules()->enforce = 0;
	EQUAL(judged(victim, -EPERM), 0);
	EQUAL(hit_count(), 0);
}

CASE(judge_no_settings, "without settings everything is denied and nothing reported")
{
	struct actor *victim = covered_process(605);

	forget_settings();
	EQUAL(judged(victim, -EPERM), -EPERM);
	EQUAL(hit_count(), 0);
}

CASE(judge_full, "what the ring has no room for is denied all the same, and counted")
{
	struct actor *victim = covered_process(606);

	host.room = 2;
	for (int at = 0; at < 5; at++)
		EQUAL(judged(victim, -EPERM), -EPERM);
	EQUAL(hit_count(), 2);
	EQUAL(tally_of(SVC_TALLY_HITS_LOST), 3);
	EQUAL(tally_of(SVC_TALLY_PROCESSES_LOST), 0);
}

CASE(judge_decoy, "an attempt on the agent's decoy is denied and counted, not reported")
{
	struct actor *victim = make_process(607, init);

	protect(victim, SVC_PROTECTION_DECOY);
	host.room = 0;
	EQUAL(judged(victim, -EPERM), -EPERM);
	EQUAL(hit_count(), 0);
	EQUAL(tally_of(SVC_TALLY_DECOY_HITS), 1);
	EQUAL(tally_of(SVC_TALLY_HITS_LOST), 0);
}

CASE(judge_decoy_generation, "a set of programs that is not the current one leaves the decoy to the current one")
{
	struct actor *victim = make_process(608, init);
	struct attempt attempt;

	protect(victim, SVC_PROTECTION_DECOY);
	rules()->generation = generation + 1;
	begin_attempt(&attempt, SVC_PATH_MEMORY);
	EXPECT(!aims_at(&attempt, &victim->task));
	EQUAL(tally_of(SVC_TALLY_DECOY_HITS), 0);
}

CASE(judge_forming, "a process that is being forked is kept from everybody without a report")
{
	struct actor *child = make_process(609, init), *thread = make_thread(610, child);

	child->task.__state = 0x800;
	EQUAL(judged(child, -EACCES), -EACCES);
	EQUAL(judged(thread, -EACCES), -EACCES);
	EQUAL(hit_count(), 0);
	rules()->enforce = 0;
	EQUAL(judged(child, -EACCES), 0);
	protect(child, 0);
	rules()->enforce = 1;
	EQUAL(judged(child, -EACCES), -EACCES);
	EQUAL(hit_count(), 1);
	for (unsigned state = 0; state < 12; state++) {
		struct attempt attempt;

		bystander->task.__state = 1u << state;
		begin_attempt(&attempt, SVC_PATH_MEMORY);
		become(init);
		EQUAL(aims_at(&attempt, &bystander->task), state == 11);
	}
}
