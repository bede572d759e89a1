/* A line of processes, each the child of the one before; answers the last. */
static struct actor *descend(struct actor *from, int number, int generations)
{
	for (int at = 0; at < generations; at++)
		from = make_process(number + at, from);
	return from;
}

static struct cgroup *nest(struct cgroup *from, __u64 id, int levels)
{
	for (int at = 0; at < levels; at++)
		from = make_cgroup(id + at, from);
	return from;
}

CASE(protection_own, "a process is covered by its own entry, and its threads by it too")
{
	struct actor *victim = make_process(400, init), *thread = make_thread(401, victim);

	EXPECT(!found_for(victim));
	protect(victim, SVC_PROTECTION_LATE);
	EXPECT(found_for(victim) == entry_of(victim));
	EXPECT(found_for(thread) == entry_of(victim));
	EQUAL(found_for(thread)->flags, SVC_PROTECTION_LATE);
	EXPECT(!found_for(bystander));
}

CASE(protection_start, "an entry is of no effect for another process with the same PID")
{
	struct actor *victim = make_process(402, init);

	protect(victim, 0);
	EXPECT(found_for(victim));
	victim->task.start_boottime++;
	EXPECT(!found_for(victim));
}

CASE(protection_parents, "a process is covered by its parents, up to the twelfth")
{
	struct actor *covered = make_process(410, init);

	protect(covered, 0);
	EXPECT(found_for(descend(covered, 411, 1)) == entry_of(covered));
	EXPECT(found_for(descend(covered, 420, 12)) == entry_of(covered));
	EXPECT(!found_for(descend(covered, 440, 13)));
}

CASE(protection_thread_parent, "a process forked by a thread is covered by that thread's process")
{
	struct actor *covered = make_process(450, init), *thread = make_thread(451, covered);

	protect(covered, 0);
	EXPECT(found_for(make_process(452, thread)) == entry_of(covered));
}

CASE(protection_init, "nobody is covered by PID 1, or by what is above it")
{
	struct actor *idle = make_task(0, 0);

	init->task.real_parent = &idle->task;
	protect(init, 0);
	protect(idle, 0);
	EXPECT(!found_for(make_process(460, init)));
	EXPECT(!found_for(bystander));
	EXPECT(found_for(init));
}

CASE(protection_cgroup, "a process is covered by its cgroup and those above it, up to the twentieth")
{
	struct actor *victim = make_process(470, init);

	protect_cgroup(5000);
	victim->cgroups.dfl_cgrp = make_cgroup(5000, &root_cgroup);
	EXPECT(found_for(victim));
	victim->cgroups.dfl_cgrp = nest(make_cgroup(5000, &root_cgroup), 6000, 19);
	EXPECT(found_for(victim));
	victim->cgroups.dfl_cgrp = nest(make_cgroup(5000, &root_cgroup), 7000, 20);
	EXPECT(!found_for(victim));
	victim->cgroups.dfl_cgrp = make_cgroup(5001, &root_cgroup);
	EXPECT(!found_for(victim));
}

CASE(protection_below, "a cgroup does not cover what is above or beside it")
{
	struct cgroup *pod = make_cgroup(5010, &root_cgroup);
	struct actor *victim = make_process(471, init);

	protect_cgroup(5011);
	make_cgroup(5011, pod);
	victim->cgroups.dfl_cgrp = pod;
	EXPECT(!found_for(victim));
	victim->cgroups.dfl_cgrp = make_cgroup(5012, pod);
	EXPECT(!found_for(victim));
}

CASE(protection_order, "the own entry goes before a parent's, and that before the cgroup's")
{
	struct actor *parent = make_process(480, init), *victim = make_process(481, parent);

	victim->cgroups.dfl_cgrp = make_cgroup(5020, &root_cgroup);
	protect_cgroup(5020);
	struct svc_protection *by_cgroup = found_for(victim);

	protect(parent, 0);
	EXPECT(found_for(victim) == entry_of(parent) && by_cgroup != entry_of(parent));
	protect(victim, 0);
	EXPECT(found_for(victim) == entry_of(victim));
}

CASE(protection_none, "a process without entry, covered parents or covered cgroup is not covered")
{
	protect(make_process(490, init), 0);
	protect_cgroup(5030);
	EXPECT(!found_for(bystander));
	EXPECT(!found_for(descend(init, 491, 5)));
	EXPECT(!found_for(init));
}

CASE(protection_random, "who is covered agrees with a walk over random families and cgroups")
{
	enum { FAMILY = 60, GROUPS = 12 };
	struct actor *family[FAMILY];
	struct cgroup *groups[GROUPS];
	bool covered[FAMILY] = {}, group_covered[GROUPS] = {};
	int parents[FAMILY], group_parents[GROUPS], groups_of[FAMILY];

	for (int at = 0; at < GROUPS; at++) {
		group_parents[at] = at ? (int)random_below(at + 1) - 1 : -1;
		groups[at] = make_cgroup(8000 + at, group_parents[at] < 0 ? &root_cgroup : groups[group_parents[at]]);
		group_covered[at] = random_below(8) == 0;
		if (group_covered[at])
			protect_cgroup(8000 + at);
	}
	for (int at = 0; at < FAMILY; at++) {
		parents[at] = at ? (int)random_below(at + 1) - 1 : -1;
		family[at] = make_process(1000 + at, parents[at] < 0 ? init : family[parents[at]]);
		groups_of[at] = (int)random_below(GROUPS + 1) - 1;
		if (groups_of[at] >= 0)
			family[at]->cgroups.dfl_cgrp = groups[groups_of[at]];
		covered[at] = random_below(8) == 0;
		if (covered[at])
			protect(family[at], 0);
	}
	for (int at = 0; at < FAMILY; at++) {
		bool wanted = false;

		for (int who = at, steps = 0; who >= 0 && steps <= 12; who = parents[who], steps++)
			wanted |= covered[who];
		for (int group = groups_of[at]; group >= 0; group = group_parents[group])
			wanted |= group_covered[group];
		EQUAL(!!found_for(family[at]), wanted);
	}
}

CASE(aims_own_group, "a thread group is let through to itself")
{
	struct actor *victim = make_process(495, init), *thread = make_thread(496, victim);
	struct attempt attempt;

	protect(victim, 0);
	become(victim);
	begin_attempt(&attempt, SVC_PATH_MEMORY);
	EXPECT(!aims_at(&attempt, &victim->task));
	EXPECT(!aims_at(&attempt, &thread->task));
	become(thread);
	begin_attempt(&attempt, SVC_PATH_MEMORY);
	EXPECT(!aims_at(&attempt, &victim->task));
	EXPECT(!attempt.target);
}

CASE(aims_other_group, "another thread group is not, though it shares the memory or is a relative")
{
	struct actor *victim = make_process(497, init), *child = make_process(498, victim);
	struct attempt attempt;

	protect(victim, SVC_PROTECTION_DECOY);
	become(child);
	begin_attempt(&attempt, SVC_PATH_MEMORY);
	EXPECT(aims_at(&attempt, &victim->task));
	EXPECT(attempt.target == &victim->task && attempt.source == &child->task);
	EQUAL(attempt.process.tgid, 497);
	EQUAL(attempt.process.start, 497007);
	EQUAL(attempt.decoy, true);
	become(victim);
	begin_attempt(&attempt, SVC_PATH_MEMORY);
	EXPECT(aims_at(&attempt, &child->task));
}
