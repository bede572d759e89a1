static void fork_event(struct actor *parent, struct actor *child, __u64 flags)
{
	__u64 context[] = { (__u64)&child->task, flags };

	become(parent);
	track_fork((struct bpf_raw_tracepoint_args *)context);
}

static void free_event(struct actor *actor)
{
	__u64 context[] = { (__u64)&actor->task };

	track_free((struct bpf_raw_tracepoint_args *)context);
}

static void move_event(struct actor *actor, struct cgroup *to)
{
	__u64 context[] = { (__u64)to, 0, (__u64)&actor->task, 0 };

	actor->cgroups.dfl_cgrp = to;
	track_move((struct bpf_raw_tracepoint_args *)context);
}

CASE(fork_inherits, "a child of a covered process is covered by itself, without its parent's flags")
{
	struct actor *parent = make_process(850, init), *child = make_process(851, parent);

	protect(parent, SVC_PROTECTION_LATE | SVC_PROTECTION_DECOY);
	host.now = 500;
	fork_event(parent, child, 17);
	EXPECT(entry_of(child));
	EQUAL(entry_of(child)->flags, 0);
	EQUAL(entry_of(child)->since, 501);
	child->task.real_parent = &init->task;
	EXPECT(found_for(child));
}

CASE(fork_by_thread, "a child forked by a thread inherits too")
{
	struct actor *parent = covered_process(852), *thread = make_thread(853, parent);
	struct actor *child = make_process(854, parent);

	fork_event(thread, child, 17);
	EXPECT(entry_of(child));
}

CASE(fork_thread, "a new thread is no new process")
{
	struct actor *parent = covered_process(855), *thread = make_thread(856, parent);

	fork_event(parent, thread, 0x00010f00);
	EQUAL(host_map(&processes)->used, 1);
	/* nor does it cover its process, which was not fresh when its cgroup was covered */
	protect_cgroup(1);
	fork_event(bystander, make_thread(859, bystander), 0x00010f00);
	EXPECT(!entry_of(bystander));
}

CASE(fork_plain, "a child of a process that is not covered is not covered")
{
	struct actor *child = make_process(857, bystander);

	fork_event(bystander, child, 17);
	EXPECT(!entry_of(child));
}

CASE(fork_cgroup, "a child in a covered cgroup is covered by itself, wherever its parent is")
{
	struct actor *child = make_process(858, bystander);

	protect_cgroup(5200);
	child->cgroups.dfl_cgrp = make_cgroup(5201, make_cgroup(5200, &root_cgroup));
	fork_event(bystander, child, 17);
	EXPECT(entry_of(child));
}

CASE(fork_full, "where the table of processes is full, the child's cgroup is covered in its place")
{
	struct actor *parent = covered_process(860), *child = make_process(861, parent);
	struct actor *stranger = make_process(862, init);

	child->cgroups.dfl_cgrp = make_cgroup(5210, &root_cgroup);
	stranger->cgroups.dfl_cgrp = child->cgroups.dfl_cgrp;
	limit(&processes, 1);
	fork_event(parent, child, 17);
	EXPECT(!entry_of(child));
	EQUAL(tally_of(SVC_TALLY_PROCESSES_LOST), 1);
	child->task.real_parent = &init->task;
	EXPECT(found_for(child));
	EXPECT(found_for(stranger));
	EXPECT(!found_for(bystander));
}

CASE(fork_full_root, "where the table is full, the root cgroup is not covered, which is everybody's")
{
	struct actor *parent = covered_process(863), *child = make_process(864, parent);

	limit(&processes, 1);
	fork_event(parent, child, 17);
	EQUAL(tally_of(SVC_TALLY_PROCESSES_LOST), 1);
	EXPECT(!found_for(bystander));
	EXPECT(found_for(child));
}

static struct svc_crowd *crowd_at(__u32 key)
{
	return host_lookup(&crowds, &key);
}

CASE(fork_crowd,
     "a cgroup has so many entries and no more; it is covered itself for those beyond, and others have theirs")
{
	struct actor *parent = make_process(887, init), *child = make_process(888, parent);
	struct actor *last = make_process(889, parent), *other = covered_process(890), *far = make_process(891, other);
	struct cgroup *crowded = make_cgroup(0x7000005280, &root_cgroup);

	parent->cgroups.dfl_cgrp = child->cgroups.dfl_cgrp = last->cgroups.dfl_cgrp = crowded;
	far->cgroups.dfl_cgrp = make_cgroup(0x7000005281, &root_cgroup);
	protect(parent, 0);
	fork_event(parent, last, 17);
	EQUAL(crowd_at(0x5280)->cgroup, 0x7000005280);
	EQUAL(crowd_at(0x5280)->processes, 1);
	EQUAL(entry_of(last)->crowd, 0x5280);
	crowd_at(0x5280)->processes = SVC_MOST_OF_ONE;
	fork_event(parent, child, 17);
	EXPECT(!entry_of(child));
	EQUAL(crowd_at(0x5280)->beyond, 1);
	EQUAL(tally_of(SVC_TALLY_PROCESSES_LOST), 0);
	child->task.real_parent = &init->task;
	EXPECT(found_for(child));
	fork_event(other, far, 17);
	EXPECT(entry_of(far));
	EQUAL(crowd_at(0x5281)->processes, 1);
}

CASE(free_crowd, "an entry that goes makes room in its cgroup's share, wherever its process was moved, and once")
{
	struct actor *parent = covered_process(892), *child = make_process(893, parent);

	child->cgroups.dfl_cgrp = make_cgroup(5290, &root_cgroup);
	fork_event(parent, child, 17);
	child->cgroups.dfl_cgrp = make_cgroup(5291, &root_cgroup);
	EQUAL(crowd_at(5290)->processes, 1);
	free_event(child);
	EQUAL(crowd_at(5290)->processes, 0);
	free_event(child);
	EQUAL(crowd_at(5290)->processes, 0);
	/* one that an older program has entered counts nowhere */
	free_event(parent);
	EQUAL(crowd_at(5290)->processes, 0);
}

CASE(fork_uncounted, "where there are too many cgroups to be counted, and in the root, entries are made all the same")
{
	struct actor *parent = covered_process(894), *child = make_process(895, parent);
	struct actor *plain = make_process(896, parent);

	limit(&crowds, 0);
	child->cgroups.dfl_cgrp = make_cgroup(5295, &root_cgroup);
	fork_event(parent, child, 17);
	EQUAL(entry_of(child)->crowd, 0);
	fork_event(parent, plain, 17);
	EQUAL(entry_of(plain)->crowd, 0);
	EQUAL(host_map(&crowds)->used, 0);
}

CASE(fork_by_relation, "a child of a process that only its parents or its cgroup cover is covered by itself")
{
	struct actor *parent = make_process(865, covered_process(866)), *child = make_process(867, init);

	fork_event(parent, child, 17);
	EXPECT(entry_of(child));
	struct actor *member = make_process(868, init), *moved = make_process(869, init);

	protect_cgroup(5215);
	member->cgroups.dfl_cgrp = make_cgroup(5215, &root_cgroup);
	fork_event(member, moved, 17);
	EXPECT(entry_of(moved));
}

CASE(exec_fresh, "memory after an exec is no longer opened, nor late")
{
	struct actor *victim = make_process(877, init), *other = make_process(878, init);
	__u64 context[] = { WORD(&make_thread(879, victim)->task) };

	open_by_somebody(victim);
	open_by_somebody(other);
	protect(victim, SVC_PROTECTION_LATE | SVC_PROTECTION_DECOY);
	protect(other, SVC_PROTECTION_LATE);
	track_exec((struct bpf_raw_tracepoint_args *)context);
	EXPECT(!is_remembered_opened(victim) && is_remembered_opened(other));
	EQUAL(entry_of(victim)->flags, SVC_PROTECTION_DECOY);
	EQUAL(entry_of(other)->flags, SVC_PROTECTION_LATE);
	context[0] = WORD(&bystander->task);
	track_exec((struct bpf_raw_tracepoint_args *)context);
	EXPECT(!entry_of(bystander));
}

CASE(free_leader, "an entry goes when the process itself is freed, not one of its threads")
{
	struct actor *victim = covered_process(870), *thread = make_thread(871, victim);
	struct svc_process process = process_of(victim);
	__u32 once = 1;

	host_update(&opened, &process, &once, BPF_ANY);
	free_event(thread);
	EXPECT(entry_of(victim) && is_remembered_opened(victim));
	free_event(victim);
	EXPECT(!entry_of(victim) && !is_remembered_opened(victim));
}

CASE(free_former_leader, "after an exec by a thread, the leader before leaves the entry alone")
{
	struct actor *former = covered_process(872), *thread = make_thread(873, former);

	/* as the kernel does it: the thread gets the leader's PID and start, the leader the thread's PID */
	thread->task.pid = 872;
	thread->task.group_leader = &thread->task;
	thread->task.start_boottime = former->task.start_boottime;
	former->task.pid = 873;
	former->task.group_leader = &thread->task;
	free_event(former);
	EXPECT(entry_of(thread));
	free_event(thread);
	EXPECT(!entry_of(thread));
}

CASE(free_leader_alone, "freeing needs nothing but the task, whose leader may have gone")
{
	struct actor *victim = covered_process(874);
	struct svc_process process = process_of(victim);

	victim->task.group_leader = 0;
	free_event(victim);
	EXPECT(!host_lookup(&processes, &process));
}

CASE(move_plain, "what enters a covered cgroup unopened is covered by itself and stays so")
{
	struct actor *arrival = make_process(880, init);

	protect_cgroup(5220);
	move_event(arrival, make_cgroup(5221, make_cgroup(5220, &root_cgroup)));
	EXPECT(entry_of(arrival));
	EQUAL(entry_of(arrival)->flags, 0);
	EQUAL(tally_of(SVC_TALLY_COVERED_LATE), 0);
	move_event(arrival, &root_cgroup);
	EXPECT(found_for(arrival));
}

CASE(move_opened, "what was opened before it enters a covered cgroup is covered as late, and counted")
{
	struct actor *arrival = make_process(881, init);

	open_by_somebody(arrival);
	protect_cgroup(5230);
	move_event(arrival, make_cgroup(5230, &root_cgroup));
	EQUAL(entry_of(arrival)->flags, SVC_PROTECTION_LATE);
	EQUAL(tally_of(SVC_TALLY_COVERED_LATE), 1);
}

CASE(move_elsewhere, "what enters another cgroup is not covered")
{
	struct actor *arrival = make_process(882, init);

	protect_cgroup(5240);
	move_event(arrival, make_cgroup(5241, &root_cgroup));
	EXPECT(!entry_of(arrival));
}

CASE(move_other_hierarchy, "a cgroup of version 1 is not taken for one of version 2 with the same id")
{
	struct actor *arrival = make_process(883, init);
	__u64 context[] = { (__u64)make_cgroup(5250, 0), 0, (__u64)&arrival->task, 0 };

	protect_cgroup(5250);
	track_move((struct bpf_raw_tracepoint_args *)context);
	EXPECT(!entry_of(arrival));
}

CASE(move_covered, "moving what is covered already changes and counts nothing")
{
	struct actor *arrival = make_process(884, init);

	protect(arrival, SVC_PROTECTION_DECOY);
	rules()->watching_since = SVC_NEVER;
	protect_cgroup(5260);
	move_event(arrival, make_cgroup(5260, &root_cgroup));
	EQUAL(entry_of(arrival)->flags, SVC_PROTECTION_DECOY);
	EQUAL(tally_of(SVC_TALLY_COVERED_LATE), 0);
}

CASE(families_random, "who is covered agrees with a record of random forks, moves and ends")
{
	enum { MOST = 400 };
	struct actor *live[MOST];
	bool covered[MOST];
	int count = 1, next = 3000;
	struct cgroup *pod = make_cgroup(5270, &root_cgroup), *plain = make_cgroup(5271, &root_cgroup);

	protect_cgroup(5270);
	live[0] = make_process(next++, init);
	live[0]->cgroups.dfl_cgrp = plain;
	covered[0] = false;
	for (int round = 0; round < 3000; round++) {
		int who = random_below(count);
		struct actor *actor = live[who];

		switch (random_below(4)) {
		case 0:
		case 1:
			if (count == MOST)
				break;
			/* its parent is init, so that nothing but its own entry and its cgroup can cover it */
			live[count] = make_process(next++, init);
			live[count]->cgroups.dfl_cgrp = actor->cgroups.dfl_cgrp;
			covered[count] = covered[who];
			fork_event(actor, live[count], 17);
			count++;
			break;
		case 2:
			if (random_below(20) == 0) {
				move_event(actor, pod);
				covered[who] = true;
			} else {
				move_event(actor, plain);
			}
			break;
		default:
			if (count == 1)
				break;
			free_event(actor);
			live[who] = live[--count];
			covered[who] = covered[count];
		}
		for (int at = 0; at < count; at += 7)
			EQUAL(!!found_for(live[at]), covered[at]);
	}
	EXPECT(count > 20);
	EQUAL(tally_of(SVC_TALLY_COVERED_LATE), 0);
}
