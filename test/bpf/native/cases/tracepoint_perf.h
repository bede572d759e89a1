/* The whole call by which the current task gets an event as descriptor 5. */
static void open_event(int abi, __u64 sample_type, bool inherit, __u64 number, __u64 flags)
{
	struct perf_event *event = make(sizeof(*event));
	struct open_file *made = make_file(0x09041934, "[perf_event]");

	event->attr.sample_type = sample_type;
	event->attr.inherit = inherit;
	made->file.private_data = event;
	bystander->descriptors[5] = &made->file;
	ENTER(abi, perf_event_open, 64, number, 0, -1, flags);
	end(5);
}

#define STACKS (PERF_SAMPLE_IP | PERF_SAMPLE_STACK_USER)

CASE(tracepoint_perf, "tracepoint tier, samples of others are reported and their reader killed")
{
	covered_process(1260);
	for (int abi = 0; abi < ABIS; abi++) {
		int before = hit_count();

		open_event(abi, STACKS, false, -1, 0);
		EQUAL(hit_count(), before + 1);
		EQUAL(last_hit()->path, SVC_PATH_PERF_STACK);
		EQUAL(last_hit()->outcome, SVC_OUTCOME_KILLED);
		EQUAL(last_hit()->syscall, NUMBER(abi, perf_event_open));
		open_event(abi, PERF_SAMPLE_REGS_USER, false, 1, 0);
		open_event(abi, STACKS, false, 0, PERF_FLAG_PID_CGROUP);
		open_event(abi, STACKS, true, 0, 0);
		EQUAL(hit_count(), before + 4);
	}
	EQUAL(host.signals, 4 * ABIS);
}

CASE(tracepoint_perf_harmless, "tracepoint tier, samples of the caller or without memory, and failures, are no attempt")
{
	covered_process(1261);
	open_event(0, STACKS, false, 0, 0);
	open_event(0, PERF_SAMPLE_IP, true, -1, 0);
	open_event(0, 0, false, -1, 0);
	open_event(0, STACKS, false, 0, 8);
	EQUAL(hit_count(), 0);
	bystander->descriptors[5] = 0;
	ENTER(0, perf_event_open, 64, -1, 0, -1, 0);
	end(-13);
	end(5);
	EQUAL(hit_count(), 0);
	EQUAL(host.signals, 0);
}
