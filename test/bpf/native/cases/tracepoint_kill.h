static void read_victim(struct actor *reader, struct actor *victim)
{
	become(reader);
	open_as(0, reader, proc_file("environ", victim->pid), 3);
}

CASE(kill_forming, "tracepoint tier, who opens a forming process is not killed, who reads it once covered is")
{
	struct actor *child = make_process(780, init);

	child->task.__state = 0x800;
	read_victim(bystander, child);
	ENTER(0, read, 3, 0, 100);
	EQUAL(host.signals, 0);
	EQUAL(hit_count(), 0);
	child->task.__state = 0;
	protect(child, 0);
	ENTER(0, read, 3, 0, 100);
	EQUAL(host.signals, 1);
	EQUAL(last_hit()->path, SVC_PATH_OPEN_DESCRIPTOR);
}

CASE(kill_not_asked, "tracepoint tier, nobody is killed where that is not asked for, or nothing enforced")
{
	rules()->kill = 0;
	read_victim(bystander, covered_process(771));
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
	rules()->kill = 1;
	rules()->enforce = 0;
	read_victim(bystander, covered_process(772));
	ENTER(0, read, 3, 0, 100);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
	EQUAL(hit_count(), 2);
	EQUAL(host.signals, 0);
}

CASE(kill_refused, "tracepoint tier, a signal that could not be sent is not claimed")
{
	host.refuses_signals = true;
	read_victim(bystander, covered_process(773));
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
}

CASE(kill_agent, "tracepoint tier, the agent and its threads are reported, not killed")
{
	struct actor *agent = make_process(774, init), *victim = covered_process(775);

	rules()->agent = process_of(agent);
	read_victim(agent, victim);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
	ENTER(0, read, 3, 0, 100);
	read_victim(make_thread(776, agent), victim);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
	EQUAL(host.signals, 0);
	read_victim(make_process(777, agent), victim);
	EQUAL(host.signals, 1);
}

CASE(kill_reused, "tracepoint tier, who has the agent's PID after it is killed")
{
	struct actor *reader = make_process(778, init);

	rules()->agent = process_of(reader);
	reader->task.start_boottime++;
	read_victim(reader, covered_process(779));
	EQUAL(last_hit()->outcome, SVC_OUTCOME_KILLED);
	EQUAL(host.signals, 1);
}

CASE(kill_old_generation, "tracepoint tier, a set of programs that is not the current one kills and does not report")
{
	rules()->generation = generation + 1;
	read_victim(bystander, covered_process(780));
	EQUAL(hit_count(), 0);
	EQUAL(host.signals, 1);
}

CASE(kill_no_settings, "tracepoint tier, without settings nobody is killed and nothing reported")
{
	struct actor *victim = covered_process(781);

	forget_settings();
	read_victim(bystander, victim);
	EQUAL(hit_count(), 0);
	EQUAL(host.signals, 0);
}
