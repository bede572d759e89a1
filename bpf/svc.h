/* Numbers and layouts that the programs share with the agent. src/runtime/protocols/protection decodes them, and a test
 * compares the two by the BTF of the built objects. No struct has implicit padding. */
#ifndef SVC_H
#define SVC_H

/* Changes with every change of a pinned map: the agent pins each layout's maps separately. */
#define SVC_LAYOUT 1

#define SVC_COMM 16
#define SVC_NEVER (~0ULL)

/* By this soft limit on file locks a process asks whether the programs protect it: bpf/query.h. */
#define SVC_QUERY_LIMIT 0x737663

/* Limit of entries in the table of processes for one cgroup. */
#define SVC_MOST_OF_ONE 8192

enum svc_access_path {
	SVC_PATH_NONE = 0,
	SVC_PATH_ENVIRON = 1,
	SVC_PATH_MEMORY = 2,
	SVC_PATH_PROCESS_VM = 3,
	SVC_PATH_PTRACE = 4,
	SVC_PATH_TRACEME = 5,
	SVC_PATH_PIDFD_GETFD = 6,
	SVC_PATH_PERF_STACK = 7,
	SVC_PATH_KERNEL_MEMORY = 8,
	SVC_PATH_OPEN_DESCRIPTOR = 9,
	SVC_PATH_CORE_LIMIT = 10,
	SVC_PATH_TOKEN = 11,
	SVC_PATH_INTERPRETER = 12,
	SVC_ACCESS_PATHS = 13,
};

enum svc_outcome {
	/* Seen but not stopped: audit mode, or a tier that cannot stop it. */
	SVC_OUTCOME_SEEN = 0,
	SVC_OUTCOME_DENIED = 1,
	SVC_OUTCOME_KILLED = 2,
	SVC_OUTCOMES = 3,
};

/* Identifies a thread group: PIDs are reused, PIDs with a start time are not. */
struct svc_process {
	__u32 tgid; /* in the initial PID namespace */
	__u32 reserved;
	__u64 start; /* nanoseconds since boot */
};

enum svc_protection_flag {
	/* Another process may have opened it before it was protected: reads of open descriptors must be checked. */
	SVC_PROTECTION_LATE = 1,
	/* A decoy of the agent. */
	SVC_PROTECTION_DECOY = 2,
};

struct svc_protection {
	__u32 flags;
	__u32 crowd; /* key of the svc_crowd that counts it; 0: none, as in entries of older programs */
	__u64 since; /* nanoseconds since boot */
};

/* Counts of one cgroup, by the lower half of its id, which no two existing cgroups share. */
struct svc_crowd {
	__u64 cgroup;
	__s32 processes; /* number with an entry */
	__u32 beyond; /* number for which none was left, so that their cgroup covers them */
};

/* A file system by the random UUID that the kernel gives each tmpfs and that no other one ever has. */
struct svc_volume {
	__u8 uuid[16];
};

/* The volume of a wrapper's service account token, for as long as a process that may open it lives. */
struct svc_token {
	struct svc_process wrapper; /* the first process that may open it: the target of access events */
	__u64 cgroup; /* of that process */
	char comm[SVC_COMM];
	__s32 openers; /* number of processes that may open it */
	__u32 reserved;
};

/* Attack paths to all processes at once, which may be left unguarded. */
enum svc_left {
	SVC_LEFT_KERNEL_MEMORY = 1,
	SVC_LEFT_PERF = 2,
	SVC_LEFT_INTERPRETERS = 4,
};

struct svc_settings {
	__u32 enforce; /* 0: report only */
	__u32 kill; /* kill readers that cannot be denied */
	__u32 generation; /* of the programs that report; others only enforce */
	__u32 left; /* of enum svc_left: what not to guard */
	struct svc_process agent; /* never killed, because it runs the canary */
	__u64 watching_since; /* nanoseconds since boot: earlier opens were not seen */
};

struct svc_hit {
	__u64 time; /* nanoseconds since boot */
	__u64 target_start;
	__u64 source_cgroup; /* ids of cgroup v2 */
	__u64 target_cgroup;
	__u32 source_tgid;
	__u32 source_tid;
	__u32 source_uid;
	__u32 target_tgid; /* 0 if the path leads to all processes */
	__u32 syscall;
	__u16 path;
	__u8 outcome;
	__u8 reserved;
	char source_comm[SVC_COMM];
	char target_comm[SVC_COMM];
};

/* Counters of the programs besides access events. */
enum svc_tally {
	SVC_TALLY_HITS_LOST = 0, /* ring of hits full */
	SVC_TALLY_PROCESSES_LOST = 1, /* table of processes full: the child's cgroup is covered instead */
	SVC_TALLY_OPENINGS_LOST = 2, /* table of opened processes full: every later registration counts as late */
	SVC_TALLY_COVERED_LATE = 3, /* covered by a program, not the agent, although it may have been opened before */
	SVC_TALLY_DECOY_HITS = 4, /* attempts on the agent's decoy, which are not reported */
	SVC_TALLIES = 5,
};

/* Requests to the program `manage`, which the agent runs by BPF_PROG_TEST_RUN. */
enum svc_request {
	SVC_REQUEST_INSPECT = 0,
	SVC_REQUEST_PROTECT = 1,
	SVC_REQUEST_RELEASE = 2,
	/* The kernel's preemption mode; ESRCH if unknown. */
	SVC_REQUEST_PREEMPTION = 3,
	SVC_REQUEST_FORGET = 4,
	/* Only this process, and those of its pod with the same request, may open the files of the volume that a
	 * descriptor of the agent is in. */
	SVC_REQUEST_GUARD_TOKEN = 5,
	/* This process may open all volumes: it writes tokens, and compares them before. */
	SVC_REQUEST_KEEP_TOKENS = 6,
};

enum svc_answer_fact {
	/* Covered: itself, by inheritance, or by its cgroup. */
	SVC_FACT_COVERED = 1,
	/* Another process opened its environment or memory before it was covered, or may have. */
	SVC_FACT_OPENED = 2,
};

struct svc_answer {
	struct svc_process process;
	__u64 cgroup;
	/* 0 or a negative errno: ESRCH; E2BIG or EDQUOT if no entry is available; EOPNOTSUPP for a descriptor that is
	 * not in a tmpfs with a UUID */
	__s32 error;
	__u32 facts;
	__s32 preemption; /* of the kernel's enum: 0 none, 1 voluntary, 2 full, 3 lazy */
	__u32 reserved;
};

#endif
