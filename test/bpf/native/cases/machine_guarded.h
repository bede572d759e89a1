/* What leads to all processes at once, by every program that is asked about it on this tier. */

/* One attempt; answers whether it was stopped, by a denial or by a signal. */
typedef bool way_to_all(void);

static bool is_killed_for(void (*attempt)(void))
{
	int before = host.signals;

	attempt();
	return host.signals > before;
}

static void open_kcore(void)
{
	open_as(0, bystander, proc_file("kcore", 0), 3);
}

static void open_device(void)
{
	open_as(0, bystander, device_file(0020600, 1 << 20 | 1), 3);
}

static struct file *format_file(const char *name, unsigned int mode)
{
	struct open_file *made = make_file(BINFMT_MAGIC, name);

	made->file.f_mode = mode;
	return &made->file;
}

static void open_format(void)
{
	open_as(0, bystander, format_file("register", 2), 3);
}

/* The stacks of everything that runs on the first processor. */
static void sample_others(void)
{
	struct perf_event *event = make(sizeof(*event));
	struct open_file *made = make_file(0x09041934, "[perf_event]");

	event->attr.sample_type = PERF_SAMPLE_STACK_USER;
	made->file.private_data = event;
	bystander->descriptors[3] = &made->file;
	IN_CALL(0, perf_event_open, 0, -1, 0, -1, 0);
	end(3);
}

static bool kcore_after_call(void)
{
	return is_killed_for(open_kcore);
}

static bool device_after_call(void)
{
	return is_killed_for(open_device);
}

static bool format_after_call(void)
{
	return is_killed_for(open_format);
}

static bool perf_after_call(void)
{
	return is_killed_for(sample_others);
}

#if !defined(TIER_TRACEPOINT)
static bool kcore_by_hook(void)
{
	return HOOK_LOCKED_DOWN(LOCKDOWN_KCORE + ENUM_SHIFT) == -EPERM;
}

static bool device_by_hook(void)
{
	return HOOK_LOCKED_DOWN(LOCKDOWN_DEV_MEM + ENUM_SHIFT) == -EPERM;
}

static bool format_by_hook(void)
{
	return HOOK_FILE_OPEN(format_file("register", 2)) == -EACCES;
}

static bool perf_by_hook(void)
{
	struct perf_event event = {};

	event.attr.sample_type = PERF_SAMPLE_STACK_USER;
	IN_CALL(0, perf_event_open, 0, -1, 0, -1, 0);
	return perf_event_alloc(ARGUMENTS(WORD(&event), 0)) == -EPERM;
}
#endif

static way_to_all *const ways_by_memory[] = {
	kcore_after_call,
	device_after_call,
#if !defined(TIER_TRACEPOINT)
	kcore_by_hook,
	device_by_hook,
#endif
};

static way_to_all *const ways_by_perf[] = {
	perf_after_call,
#if !defined(TIER_TRACEPOINT)
	perf_by_hook,
#endif
};

static way_to_all *const ways_by_format[] = {
	format_after_call,
#if !defined(TIER_TRACEPOINT)
	format_by_hook,
#endif
};

/* Each attempt that is stopped is reported, and each that is not leaves no trace. */
static void expect_ways(way_to_all *const ways[], unsigned count, bool stopped)
{
	for (unsigned at = 0; at < count; at++) {
		int before = hit_count();

		EQUAL(ways[at](), stopped);
		EQUAL(hit_count(), before + stopped);
	}
}

static void expect_guarded(bool memory, bool perf, bool format)
{
	expect_ways(ways_by_format, COUNT(ways_by_format), format);
	expect_ways(ways_by_memory, COUNT(ways_by_memory), memory);
	expect_ways(ways_by_perf, COUNT(ways_by_perf), perf);
}

static void unprotect(const struct actor *actor)
{
	struct svc_process key = process_of(actor);

	EQUAL(host_delete(&processes, &key), 0);
}

CASE(guarded_nothing, "what leads to all is left to everybody while nothing is protected")
{
	expect_guarded(false, false, false);
}

CASE(guarded_decoy, "what leads to all is left to everybody while only the agent's decoys are protected")
{
	protect(make_process(1200, init), SVC_PROTECTION_DECOY);
	expect_guarded(false, false, false);
	protect(make_process(1201, init), SVC_PROTECTION_DECOY | SVC_PROTECTION_LATE);
	expect_guarded(false, false, false);
}

CASE(guarded_process, "what leads to all is guarded while a process is protected, late or not, and no longer")
{
	const __u32 flags[] = { 0, SVC_PROTECTION_LATE };

	for (unsigned at = 0; at < COUNT(flags); at++) {
		struct actor *actor = make_process(1202 + at, init);

		protect(actor, flags[at]);
		expect_guarded(true, true, true);
		unprotect(actor);
		expect_guarded(false, false, false);
	}
}

CASE(guarded_between, "what leads to all is guarded for one process among decoys, wherever it is in the table")
{
	for (int place = 0; place < 3; place++) {
		struct actor *actors[3];

		for (int at = 0; at < 3; at++) {
			actors[at] = make_process(1210 + 10 * place + at, init);
			protect(actors[at], at == place ? 0 : SVC_PROTECTION_DECOY);
		}
		expect_guarded(true, true, true);
		for (int at = 0; at < 3; at++)
			unprotect(actors[at]);
	}
}

CASE(guarded_cgroup, "what leads to all is guarded for a cgroup that is protected, with or without processes beside it")
{
	protect_cgroup(6100);
	expect_guarded(true, true, true);
	protect(make_process(1240, init), SVC_PROTECTION_DECOY);
	expect_guarded(true, true, true);
	covered_process(1241);
	expect_guarded(true, true, true);
}

CASE(guarded_left, "what the settings leave alone is left alone, and nothing else")
{
	covered_process(1242);
	rules()->left = SVC_LEFT_KERNEL_MEMORY;
	expect_guarded(false, true, true);
	rules()->left = SVC_LEFT_PERF;
	expect_guarded(true, false, true);
	rules()->left = SVC_LEFT_INTERPRETERS;
	expect_guarded(true, true, false);
	rules()->left = SVC_LEFT_KERNEL_MEMORY | SVC_LEFT_PERF | SVC_LEFT_INTERPRETERS;
	expect_guarded(false, false, false);
}

CASE(guarded_format_read, "interpreters may be read, and their folder listed, while something is protected")
{
	covered_process(1243);
	open_as(0, bystander, format_file("status", 1), 3);
#if !defined(TIER_TRACEPOINT)
	EQUAL(HOOK_FILE_OPEN(format_file("status", 1)), 0);
#endif
	EQUAL(host.signals, 0);
	EQUAL(hit_count(), 0);
}

CASE(guarded_format_told, "who writes interpreters is reported, with no process as the target")
{
	covered_process(1244);
	open_as(0, bystander, format_file("qemu-arm", 3), 3);
	EQUAL(last_hit()->path, SVC_PATH_INTERPRETER);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_KILLED);
	EQUAL(last_hit()->source_tgid, 77);
	EQUAL(last_hit()->target_tgid, 0);
#if !defined(TIER_TRACEPOINT)
	rules()->enforce = 0;
	IN_CALL(0, openat, -100, 0, 1);
	EQUAL(HOOK_FILE_OPEN(format_file("register", 2)), 0);
	EQUAL(last_hit()->path, SVC_PATH_INTERPRETER);
	EQUAL(last_hit()->outcome, SVC_OUTCOME_SEEN);
	EQUAL(last_hit()->syscall, NATIVE_openat);
#endif
}
