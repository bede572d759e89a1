static struct file_target target_of(struct file *file)
{
	struct file_target target;

	memset(&target, 0xff, sizeof(target));
	read_file_target(file, &target);
	return target;
}

static void expect_target(struct file *file, enum svc_access_path path, const struct actor *of)
{
	struct file_target target = target_of(file);

	EQUAL(target.path, path);
	EXPECT(target.task == (of ? &of->task : 0));
}

CASE(target_process, "environ and mem of proc lead to their process")
{
	struct actor *victim = make_process(300, init);

	expect_target(proc_file("environ", victim->pid), SVC_PATH_ENVIRON, victim);
	expect_target(proc_file("mem", victim->pid), SVC_PATH_MEMORY, victim);
}

CASE(target_thread, "environ and mem of a thread lead to that thread")
{
	struct actor *thread = make_thread(302, make_process(301, init));

	expect_target(proc_file("environ", thread->pid), SVC_PATH_ENVIRON, thread);
	expect_target(proc_file("mem", thread->pid), SVC_PATH_MEMORY, thread);
}

CASE(target_kcore, "kcore leads to all memory, and only where it belongs to no process")
{
	expect_target(proc_file("kcore", 0), SVC_PATH_KERNEL_MEMORY, 0);
	expect_target(proc_file("kcore", bystander->pid), SVC_PATH_NONE, 0);
	expect_target(proc_file("mem", 0), SVC_PATH_NONE, 0);
	expect_target(proc_file("environ", 0), SVC_PATH_NONE, 0);
}

CASE(target_alike, "names that only resemble those that lead to memory lead nowhere")
{
	const char *names[] = { "environ2", "environs", "enviro",  "Environ", "memory", "member", "me",
				"memo",	    "mem ",	"m",	   "kcore2",  "kcor",	"kmem",	  "maps",
				"smaps",    "auxv",	"cmdline", "status",  "fd",	"",	  "emem" };

	for (unsigned at = 0; at < COUNT(names); at++) {
		expect_target(proc_file(names[at], bystander->pid), SVC_PATH_NONE, 0);
		expect_target(proc_file(names[at], 0), SVC_PATH_NONE, 0);
	}
}

CASE(target_elsewhere, "files of these names on other file systems lead nowhere")
{
	unsigned long magics[] = { 0xef53, 0x01021994, 0, PROC_MAGIC << 16, (1UL << 32) | PROC_MAGIC };
	const char *names[] = { "environ", "mem", "kcore" };

	for (unsigned at = 0; at < COUNT(magics) * COUNT(names); at++) {
		struct open_file *file = make_file(magics[at / COUNT(names)], names[at % COUNT(names)]);

		file->proc.pid = at % 2 ? bystander->pid : 0;
		expect_target(&file->file, SVC_PATH_NONE, 0);
	}
}

CASE(target_thread_gone, "a file of a thread that has gone leads to whose memory it is")
{
	struct actor *victim = make_process(304, init), *gone = make_thread(305, victim);
	struct mm_struct memory = { .owner = &victim->task };
	struct file *file = proc_file("mem", gone->pid);

	file->private_data = &memory;
	gone->pid->tasks[0].first = 0;
	expect_target(file, SVC_PATH_MEMORY, victim);
	memory.owner = 0;
	expect_target(file, SVC_PATH_NONE, 0);
	EXPECT(!target_of(file).forsaken);
	memory.mm_users.counter = 1;
	EXPECT(target_of(file).forsaken);
}

CASE(target_gone, "a file of a process that has gone leads nowhere")
{
	struct actor *gone = make_process(303, init);

	gone->pid->tasks[0].first = 0;
	expect_target(proc_file("environ", gone->pid), SVC_PATH_NONE, 0);
	expect_target(proc_file("mem", gone->pid), SVC_PATH_NONE, 0);
}

CASE(target_device, "the devices of all memory are known by their numbers, whatever their names")
{
	expect_target(device_file(0020600, 1 << 20 | 1), SVC_PATH_KERNEL_MEMORY, 0);
	expect_target(device_file(0020600, 1 << 20 | 2), SVC_PATH_KERNEL_MEMORY, 0);
	expect_target(device_file(0020666, 1 << 20 | 3), SVC_PATH_NONE, 0); /* null */
	expect_target(device_file(0020666, 1 << 20 | 9), SVC_PATH_NONE, 0); /* urandom */
	expect_target(device_file(0020600, 2 << 20 | 1), SVC_PATH_NONE, 0);
	expect_target(device_file(0020600, 1), SVC_PATH_NONE, 0);
}

CASE(target_other_kinds, "only a character device is one of memory")
{
	expect_target(device_file(0060600, 1 << 20 | 1), SVC_PATH_NONE, 0); /* a block device: ram1 */
	expect_target(device_file(0100600, 1 << 20 | 1), SVC_PATH_NONE, 0);
	expect_target(device_file(0010600, 1 << 20 | 1), SVC_PATH_NONE, 0);
}
