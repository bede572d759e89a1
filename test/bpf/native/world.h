/* A small machine to try the programs on: processes, PID namespaces, cgroups and open files, laid out as the kernel
 * links them. */
#ifndef WORLD_H
#define WORLD_H

#define MOST_NESTED 8
#define DESCRIPTORS 8
#define NODE_BITS 6

struct actor {
	struct task_struct task;
	struct mm_struct memory;
	struct signal_struct signal;
	struct pid *pid;
	struct cred cred;
	struct files_struct files;
	struct fdtable table;
	struct file *descriptors[DESCRIPTORS];
	struct css_set cgroups;
};

struct open_file {
	struct file file;
	struct dentry dentry;
	struct proc_inode proc;
	struct super_block super;
	/* a name takes as many bytes as this at least */
	unsigned char name[40];
};

static struct pid_namespace initial_namespace;
static struct cgroup root_cgroup;
static struct kernfs_node root_cgroup_node = { .id = 1 };
static struct actor *init, *bystander;
static struct pt_regs registers;

static void *make(size_t size)
{
	return calloc(1, size);
}

/* The xarray of an IDR, built as the kernel grows it: the top only as high as its greatest index needs. */
static struct xa_node *make_node(unsigned char shift)
{
	struct xa_node *node = make(sizeof(*node));

	node->shift = shift;
	return node;
}

static void *node_entry(struct xa_node *node)
{
	return (void *)((unsigned long)node | 2);
}

static struct xa_node *entry_node(void *entry)
{
	return (void *)((unsigned long)entry & ~3UL);
}

static void store(struct xarray *array, __u32 index, void *entry)
{
	if (!array->xa_head)
		array->xa_head = node_entry(make_node(0));
	while ((__u64)index >> entry_node(array->xa_head)->shift >= 64) {
		struct xa_node *top = make_node(entry_node(array->xa_head)->shift + NODE_BITS);

		top->slots[0] = array->xa_head;
		array->xa_head = node_entry(top);
	}
	struct xa_node *node = entry_node(array->xa_head);

	while (node->shift) {
		void **slot = &node->slots[index >> node->shift & 63];

		if (!*slot)
			*slot = node_entry(make_node(node->shift - NODE_BITS));
		node = entry_node(*slot);
	}
	node->slots[index & 63] = entry;
}

/* A PID with a number in each of `depth` namespaces, the initial one first. */
static struct pid *make_pid(struct pid_namespace *const *namespaces, const int *numbers, int depth)
{
	struct pid *pid = make(sizeof(struct pid) + depth * sizeof(struct upid));
	struct upid *at = (void *)pid + offsetof(struct pid, numbers);

	pid->level = depth - 1;
	for (int level = 0; level < depth; level++) {
		at[level] = (struct upid){ .nr = numbers[level], .ns = namespaces[level] };
		store(&namespaces[level]->idr.idr_rt, numbers[level], pid);
	}
	return pid;
}

static struct pid *pid_of_number(int number)
{
	struct pid_namespace *namespaces[] = { &initial_namespace };

	return make_pid(namespaces, &number, 1);
}

static void carry_pid(struct actor *actor, struct pid *pid)
{
	actor->pid = pid;
	actor->task.thread_pid = pid;
	pid->tasks[0].first = &actor->task.pid_links[0];
}

static struct actor *make_task(int number, struct actor *parent)
{
	struct actor *actor = make(sizeof(*actor));
	struct task_struct *task = &actor->task;

	task->pid = task->tgid = number;
	task->group_leader = task;
	task->real_parent = parent ? &parent->task : 0;
	task->start_boottime = 1000ULL * number + 7;
	task->cred = &actor->cred;
	actor->cred.uid.val = 100000 + number;
	snprintf(task->comm, sizeof(task->comm), "task-%d", number);
	task->files = &actor->files;
	actor->files.fdt = &actor->table;
	actor->table = (struct fdtable){ .max_fds = DESCRIPTORS, .fd = actor->descriptors };
	task->mm = &actor->memory;
	actor->memory.owner = task;
	task->signal = &actor->signal;
	task->cgroups = &actor->cgroups;
	actor->cgroups.dfl_cgrp = &root_cgroup;
	return actor;
}

static struct actor *make_process(int number, struct actor *parent)
{
	struct actor *actor = make_task(number, parent);

	carry_pid(actor, pid_of_number(number));
	return actor;
}

static struct actor *make_nested(struct pid_namespace *const *namespaces, const int *numbers, int depth)
{
	struct actor *actor = make_task(numbers[0], init);

	carry_pid(actor, make_pid(namespaces, numbers, depth));
	return actor;
}

static struct actor *make_thread(int number, struct actor *leader)
{
	struct actor *actor = make_process(number, 0);

	actor->task.tgid = leader->task.tgid;
	actor->task.group_leader = &leader->task;
	actor->task.real_parent = leader->task.real_parent;
	actor->task.cgroups = leader->task.cgroups;
	return actor;
}

static struct cgroup *make_cgroup(__u64 id, struct cgroup *parent)
{
	struct cgroup *cgroup = make(sizeof(*cgroup));

	cgroup->kn = make(sizeof(*cgroup->kn));
	cgroup->kn->id = id;
	cgroup->self.parent = parent ? &parent->self : 0;
	return cgroup;
}

static struct open_file *make_file(unsigned long magic, const char *name)
{
	struct open_file *made = make(sizeof(*made));

	made->super.s_magic = magic;
	made->proc.vfs_inode.i_sb = &made->super;
	made->proc.vfs_inode.i_mode = 0100400;
	snprintf((char *)made->name, sizeof(made->name), "%s", name);
	made->dentry.d_name.name = made->name;
	made->dentry.d_inode = &made->proc.vfs_inode;
	made->file.f_path.dentry = &made->dentry;
	made->file.f_inode = &made->proc.vfs_inode;
	return made;
}

static struct file *proc_file(const char *name, struct pid *pid)
{
	struct open_file *made = make_file(PROC_MAGIC, name);

	made->proc.pid = pid;
	return &made->file;
}

static struct file *device_file(__u32 mode, __u32 device)
{
	struct open_file *made = make_file(0x01021994, "mem");

	made->proc.vfs_inode.i_mode = mode;
	made->proc.vfs_inode.i_rdev = device;
	return &made->file;
}

static void become(struct actor *actor)
{
	host.current = &actor->task;
	host.current_tgid = actor->task.tgid;
	host.current_pid = actor->task.pid;
	host.registers = &registers;
}

#define DECLARE(map)                                                                              \
	host_declare(&map, sizeof(*map.type) / sizeof(int), sizeof(*map.key), sizeof(*map.value), \
		     sizeof(*map.max_entries) / sizeof(int))

static struct svc_settings *rules(void)
{
	__u32 first = 0;

	return host_lookup(&settings, &first);
}

/* As the agent leaves it: enforcing, openings seen from the start. */
static void begin(void)
{
	DECLARE(processes);
	DECLARE(cgroups);
	DECLARE(crowds);
	DECLARE(opened);
	DECLARE(reported);
	DECLARE(tokens);
	DECLARE(token_openers);
	DECLARE(token_keepers);
	DECLARE(settings);
	DECLARE(tallies);
	DECLARE(answer);
	host_declare(&hits, sizeof(*hits.type) / sizeof(int), 0, 0, 0);
	root_cgroup.kn = &root_cgroup_node;
	init = make_process(1, 0);
	bystander = make_process(77, init);
	rules()->enforce = 1;
	rules()->kill = 1;
	become(bystander);
}

static struct svc_process process_of(const struct actor *actor)
{
	return (struct svc_process){ .tgid = actor->task.tgid, .start = actor->task.group_leader->start_boottime };
}

static struct svc_protection *entry_of(const struct actor *actor)
{
	struct svc_process key = process_of(actor);

	return host_lookup(&processes, &key);
}

static void protect(const struct actor *actor, __u32 flags)
{
	struct svc_process key = process_of(actor);
	struct svc_protection value = { .flags = flags };

	host_update(&processes, &key, &value, BPF_ANY);
}

static void protect_cgroup(__u64 id)
{
	struct svc_protection value = {};

	host_update(&cgroups, &id, &value, BPF_ANY);
}

/* Its memory, by whoever is current; it is not covered. */
static void open_by_somebody(const struct actor *actor)
{
	struct attempt attempt;

	if (is_attempt_by_open(proc_file("mem", actor->pid), &attempt))
		abort();
}

static bool is_remembered_opened(const struct actor *actor)
{
	struct svc_process key = process_of(actor);

	return host_lookup(&opened, &key);
}

static __u64 tally_of(__u32 which)
{
	return *(__u64 *)host_lookup(&tallies, &which);
}

static void limit(const void *map, __u32 most)
{
	host_map(map)->most = most;
}

/* A test has no settings by taking their map's only element away. */
static void forget_settings(void)
{
	host_map(&settings)->first = 0;
}

static int hit_count(void)
{
	return host.submitted;
}

static struct svc_hit *last_hit(void)
{
	if (!host.submitted)
		abort();
	return (struct svc_hit *)host.records[host.submitted - 1];
}

static struct actor *covered_process(int number)
{
	struct actor *made = make_process(number, init);

	protect(made, 0);
	return made;
}

static struct svc_protection *found_for(const struct actor *actor)
{
	struct svc_process process;

	identify((struct task_struct *)&actor->task, &process);
	return find_protection((struct task_struct *)&actor->task, &process);
}

/* Pseudo-random, the same in every run. */
static __u32 random_below(__u32 bound)
{
	static __u64 state = 0x9e3779b97f4a7c15ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 16) % bound;
}

#endif
