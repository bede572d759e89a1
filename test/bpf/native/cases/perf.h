static struct perf_event event_of(__u64 sample_type)
{
	struct perf_event event = {};

	event.attr.sample_type = sample_type;
	return event;
}

static int allocate(struct perf_event event)
{
	return perf_event_alloc(ARGUMENTS((__u64)&event, 0));
}

#define STACKS (PERF_SAMPLE_IP | PERF_SAMPLE_STACK_USER)
#define REGISTERS (PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER)

CASE(perf_others, "samples of stacks or registers of anybody else are denied")
{
	covered_process(1250);
	for (int abi = 0; abi < ABIS; abi++) {
		IN_CALL(abi, perf_event_open, 0, -1, 0, -1, 0);
		EQUAL(allocate(event_of(STACKS)), -EPERM);
		EQUAL(last_hit()->path, SVC_PATH_PERF_STACK);
		EQUAL(last_hit()->syscall, NUMBER(abi, perf_event_open));
		EQUAL(last_hit()->target_tgid, 0);
		IN_CALL(abi, perf_event_open, 0, 1, -1, -1, 0);
		EQUAL(allocate(event_of(REGISTERS)), -EPERM);
		EQUAL(allocate(event_of(PERF_SAMPLE_REGS_INTR)), -EPERM);
	}
	EQUAL(hit_count(), 3 * ABIS);
}

CASE(perf_itself, "the caller may sample itself, which it asks for by PID 0")
{
	covered_process(1251);
	for (int abi = 0; abi < ABIS; abi++) {
		IN_CALL(abi, perf_event_open, 0, 0, -1, -1, 0);
		EQUAL(allocate(event_of(STACKS)), 0);
		IN_CALL(abi, perf_event_open, 0, 0xabcdef0100000000, -1, -1, 8);
		EQUAL(allocate(event_of(REGISTERS)), 0);
	}
	EQUAL(hit_count(), 0);
}

CASE(perf_cgroup, "0 that is the descriptor of a cgroup is not the caller")
{
	covered_process(1252);
	for (int abi = 0; abi < ABIS; abi++) {
		IN_CALL(abi, perf_event_open, 0, 0, 0, -1, PERF_FLAG_PID_CGROUP);
		EQUAL(allocate(event_of(STACKS)), -EPERM);
		IN_CALL(abi, perf_event_open, 0, 0, 0, -1, PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
		EQUAL(allocate(event_of(STACKS)), -EPERM);
	}
	EQUAL(hit_count(), 2 * ABIS);
}

CASE(perf_harmless, "events without stacks or registers are left alone")
{
	covered_process(1253);
	IN_CALL(0, perf_event_open, 0, -1, 0, -1, 0);
	EQUAL(allocate(event_of(0)), 0);
	EQUAL(allocate(event_of(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TIME)), 0);
	EQUAL(hit_count(), 0);
}

CASE(perf_inherited, "an event that follows another into a child does not keep it from being forked")
{
	struct perf_event parent = event_of(STACKS), child = event_of(STACKS);

	covered_process(1256);
	child.parent = &parent;
	IN_CALL(0, read, 0);
	EQUAL(allocate(child), 0);
	EQUAL(allocate(parent), -EPERM);
}

CASE(perf_other_call, "an event that is not made by perf_event_open is nobody's own")
{
	covered_process(1254);
	IN_CALL(0, io_uring_enter, 0, 0, 0, 0, 0);
	EQUAL(allocate(event_of(STACKS)), -EPERM);
	host.knows_registers = false;
	IN_CALL(0, perf_event_open, 0, 0, -1, -1, 0);
	EQUAL(allocate(event_of(STACKS)), -EPERM);
}

CASE(perf_audit, "samples of others are reported where nothing is enforced")
{
	covered_process(1255);
	rules()->enforce = 0;
	IN_CALL(0, perf_event_open, 0, -1, 0, -1, 0);
	EQUAL(allocate(event_of(STACKS)), 0);
	EQUAL(hit_count(), 1);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
}

CASE(perf_inheriting, "samples of the caller that go on in its children are denied, since those may be covered")
{
	struct perf_event event = event_of(STACKS);

	covered_process(1257);
	IN_CALL(0, perf_event_open, 0, 0, -1, -1, 0);
	event.attr.disabled = event.attr.pinned = event.attr.exclude_kernel = 1;
	EQUAL(allocate(event), 0);
	event.attr.inherit = 1;
	EQUAL(allocate(event), -EPERM);
	event.attr.sample_type = PERF_SAMPLE_IP;
	EQUAL(allocate(event), 0);
}
