static void *numbered(int number)
{
	return find_pid(&initial_namespace, number);
}

CASE(find_one_level, "find_pid finds PIDs in a tree of one level")
{
	struct pid *first = pid_of_number(2), *last = pid_of_number(63);

	EXPECT(entry_node(initial_namespace.idr.idr_rt.xa_head)->shift == 6); /* the bystander's is 77 */
	struct pid_namespace small = {};

	store(&small.idr.idr_rt, 2, first);
	store(&small.idr.idr_rt, 63, last);
	EXPECT(entry_node(small.idr.idr_rt.xa_head)->shift == 0);
	EXPECT(find_pid(&small, 2) == first);
	EXPECT(find_pid(&small, 63) == last);
	EXPECT(!find_pid(&small, 3));
	EXPECT(!find_pid(&small, 0));
}

CASE(find_more_levels, "find_pid finds PIDs in trees of two, three and four levels")
{
	int numbers[] = { 64, 4095, 4096, 262143, 262144, 4194303 };

	for (unsigned at = 0; at < COUNT(numbers); at++) {
		struct pid *pid = pid_of_number(numbers[at]);

		EXPECT(numbered(numbers[at]) == pid);
		EXPECT(!numbered(numbers[at] - 2));
		EXPECT(numbered(77) == bystander->pid);
	}
	EXPECT(entry_node(initial_namespace.idr.idr_rt.xa_head)->shift == 18);
}

CASE(find_beyond, "find_pid does not find a PID beyond the reach of the root")
{
	struct pid_namespace small = {};

	store(&small.idr.idr_rt, 5, bystander->pid);
	EXPECT(find_pid(&small, 5) == bystander->pid);
	EXPECT(!find_pid(&small, 64 + 5));
	EXPECT(!find_pid(&small, 4096 + 5));
	store(&small.idr.idr_rt, 64, init->pid);
	EXPECT(!find_pid(&small, 4096 + 5));
	EXPECT(!find_pid(&small, (1u << 31) + 5));
	EXPECT(!find_pid(&small, 0xffffffff));
}

CASE(find_empty, "find_pid finds nothing in an empty namespace or in holes")
{
	struct pid_namespace empty = {};

	EXPECT(!find_pid(&empty, 1));
	pid_of_number(262144);
	EXPECT(!numbered(4096));
	EXPECT(!numbered(262145));
}

CASE(find_marks, "find_pid takes the xarray's own marks and values for nothing")
{
	unsigned long marks[] = { 2, 62 << 2 | 2, 256 << 2 | 2, 257 << 2 | 2, 1, 3, 4097, 0x1000001, 0x1000003, 4 };

	for (unsigned at = 0; at < COUNT(marks); at++) {
		struct pid_namespace space = {};

		store(&space.idr.idr_rt, 9, (void *)marks[at]);
		EXPECT(!find_pid(&space, 9));
		space.idr.idr_rt.xa_head = (void *)marks[at];
		EXPECT(!find_pid(&space, 9));
	}
}

CASE(find_endless, "find_pid gives up on a tree that never ends")
{
	struct xa_node *loop = make_node(6);
	struct pid_namespace space = { .idr.idr_rt.xa_head = node_entry(loop) };

	for (int at = 0; at < 64; at++)
		loop->slots[at] = node_entry(loop);
	EXPECT(!find_pid(&space, 9));
}

CASE(find_random, "find_pid agrees with a table of random PIDs")
{
	enum { PIDS = 1 << 22 };
	struct pid **table = calloc(PIDS, sizeof(*table));
	struct pid_namespace space = {};

	for (int round = 0; round < 20000; round++) {
		/* small ones as often as great ones, so that all levels have neighbours */
		__u32 number = 1 + random_below(PIDS >> random_below(20)) % (PIDS - 1);

		if (random_below(4) == 0 && table[number]) {
			store(&space.idr.idr_rt, number, 0);
			table[number] = 0;
		} else if (!table[number]) {
			table[number] = make(sizeof(struct pid));
			store(&space.idr.idr_rt, number, table[number]);
		}
		__u32 asked = random_below(2) ? number : random_below(PIDS >> random_below(20));

		EXPECT(find_pid(&space, asked) == table[asked]);
	}
}

CASE(find_nested, "find_task takes a PID as the current task's namespace numbers it, at any depth")
{
	struct pid_namespace below = { .level = 1 }, deepest = { .level = 2 };
	struct pid_namespace *spaces[] = { &initial_namespace, &below, &deepest };
	struct actor *outer = make_nested(spaces, (int[]){ 500, 1 }, 2);
	struct actor *inner = make_nested(spaces, (int[]){ 501, 2, 1 }, 3);
	struct actor *other = make_nested(spaces, (int[]){ 502, 3, 2 }, 3);

	EXPECT(find_task(501) == &inner->task);
	EXPECT(find_task(1) == &init->task);
	become(outer);
	EXPECT(find_task(1) == &outer->task);
	EXPECT(find_task(3) == &other->task);
	EXPECT(!find_task(501));
	become(inner);
	EXPECT(find_task(1) == &inner->task);
	EXPECT(find_task(2) == &other->task);
	EXPECT(!find_task(3));
}

CASE(find_gone, "find_task finds no task that has gone from its PID, nor one at a PID that is kept for later")
{
	struct actor *gone = make_process(900, init);

	EXPECT(find_task(900) == &gone->task);
	gone->pid->tasks[0].first = 0;
	EXPECT(!find_task(900));
	EXPECT(!find_task(901));
	EXPECT(!task_of(0));
}

CASE(find_thread, "find_task finds a thread by its own PID")
{
	struct actor *leader = make_process(910, init), *thread = make_thread(911, leader);

	EXPECT(find_task(911) == &thread->task);
	EXPECT(find_task(910) == &leader->task);
}
