/* Kernel types with the fields in use; their offsets are filled in at load time (CO-RE), so order and omitted fields do
 * not matter. */
#ifndef SVC_KERNEL_H
#define SVC_KERNEL_H

#include <linux/perf_event.h>

/* As in setrlimit(2). */
struct rlimit {
	unsigned long rlim_cur;
	unsigned long rlim_max;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct xarray {
	void *xa_head;
};

struct xa_node {
	unsigned char shift;
	void *slots[64];
};

struct idr {
	struct xarray idr_rt;
};

struct pid_namespace {
	struct idr idr;
	unsigned int level;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct hlist_head tasks[4];
	struct upid numbers[1];
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

typedef struct {
	__u32 val;
} kuid_t;

struct cred {
	kuid_t uid;
};

typedef struct {
	__u8 b[16];
} uuid_t;

struct super_block {
	unsigned long s_magic;
	uuid_t s_uuid;
};

struct inode {
	unsigned short i_mode;
	__u32 i_rdev;
	struct super_block *i_sb;
	void *i_private;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
};

struct path {
	struct dentry *dentry;
};

typedef struct {
	int counter;
} atomic_t;

/* `owner` exists with CONFIG_MEMCG. */
struct mm_struct {
	atomic_t mm_users;
	struct task_struct *owner;
};

struct file {
	unsigned int f_mode;
	struct path f_path;
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct proc_inode {
	struct pid *pid;
	unsigned int fd;
	struct inode vfs_inode;
};

struct perf_event {
	struct perf_event_attr attr;
	struct perf_event *parent;
};

struct thread_info {
	unsigned long flags;
	__u32 status;
};

struct signal_struct {
	struct rlimit rlim[16];
};

struct sigpending {
	struct {
		unsigned long sig[1];
	} signal;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct sigpending pending;
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	__u64 start_boottime;
	struct pid *thread_pid;
	struct hlist_node pid_links[4];
	const struct cred *cred;
	char comm[16];
	struct files_struct *files;
	struct css_set *cgroups;
};

#pragma clang attribute pop

/* Matched by name: the values are the running kernel's. */
enum lockdown_reason {
	LOCKDOWN_DEV_MEM = 1,
	LOCKDOWN_KCORE = 2,
};

#endif
