/* What the programs and the agent tell each other: numbers and layouts. src/core/protection decodes them, and a
 * test compares the two by the BTF of the built objects. Every struct is free of implicit padding. */
#ifndef SVC_H
#define SVC_H

/* Changes with every change of a pinned map: the agent keeps maps of another layout apart. */
#define SVC_LAYOUT 1

#define SVC_COMM 16
#define SVC_NEVER (~0ULL)

/* A process asks by this soft limit on file locks whether the programs keep others out of it: bpf/query.h. */
#define SVC_QUERY_LIMIT 0x737663

/* Entries of the table of processes for those of one cgroup. */
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
	SVC_ACCESS_PATHS = 12,
};

enum svc_outcome {
	/* Seen and let pass: audit mode, or a tier that cannot stop it. */
	SVC_OUTCOME_SEEN = 0,
	SVC_OUTCOME_DENIED = 1,
	SVC_OUTCOME_KILLED = 2,
	SVC_OUTCOMES = 3,
};

/* A thread group for as long as it lives; PIDs are reused, PIDs with a start time are not. */
struct svc_process {
	__u32 tgid; /* as the initial PID namespace numbers it */
	__u32 reserved;
	__u64 start; /* nanoseconds since boot */
};

enum svc_protection_flag {
	/* It may have been opened by somebody before it was protected: reads of open descriptors need checking. */
	SVC_PROTECTION_LATE = 1,
	/* A decoy of the agent's own. */
	SVC_PROTECTION_DECOY = 2,
};

struct svc_protection {
	__u32 flags;
	__u32 crowd; /* key of the svc_crowd that it counts in; 0: none, as in what older programs have entered */
	__u64 since; /* nanoseconds since boot */
};

/* Of one cgroup, by the lower half of its id, which no two cgroups that are there have in common. */
struct svc_crowd {
	__u64 cgroup;
	__s32 processes; /* how many have an entry */
	__u32 beyond; /* for how many there was none left, so that their cgroup covers them */
};

/* A file system by the UUID that the kernel draws for each tmpfs: no other one has it, before or after. */
struct svc_volume {
	__u8 uuid[16];
};

/* The volume of a wrapper's service account token, for as long as a process that may open it lives. */
struct svc_token {
	struct svc_process wrapper; /* the first of those that may open it: the target of hits */
	__u64 cgroup; /* its own */
	char comm[SVC_COMM];
	__s32 openers; /* how many processes of the pod may */
	__u32 reserved;
};

/* What leads to the memory of all processes at once, and may be left alone. */
enum svc_left {
	SVC_LEFT_KERNEL_MEMORY = 1,
	SVC_LEFT_PERF = 2,
};

struct svc_settings {
	__u32 enforce; /* 0: report only */
	__u32 kill; /* kill who reads what cannot be denied */
	__u32 generation; /* of the programs that report; others only enforce */
	__u32 left; /* of enum svc_left: what is not guarded */
	struct svc_process agent; /* never killed: its canary has to live */
	__u64 watching_since; /* nanoseconds since boot: openings before that were not seen */
};

struct svc_hit {
	__u64 time; /* nanoseconds since boot */
	__u64 target_start;
	__u64 source_cgroup; /* ids of cgroup v2 */
	__u64 target_cgroup;
	__u32 source_tgid;
	__u32 source_tid;
	__u32 source_uid;
	__u32 target_tgid; /* 0 where the path leads to all memory */
	__u32 syscall;
	__u16 path;
	__u8 outcome;
	__u8 reserved;
	char source_comm[SVC_COMM];
	char target_comm[SVC_COMM];
};

/* What the programs tell by numbers beside hits. */
enum svc_tally {
	SVC_TALLY_HITS_LOST = 0, /* ring of hits full */
	SVC_TALLY_PROCESSES_LOST = 1, /* table of processes full: the child's cgroup is covered in its place */
	SVC_TALLY_OPENINGS_LOST = 2, /* table of opened processes full: every later registration counts as late */
	SVC_TALLY_COVERED_LATE = 3, /* covered by a program itself though it may have been opened before */
	SVC_TALLY_DECOY_HITS = 4, /* attempts on the agent's decoy, which are not reported */
	SVC_TALLIES = 5,
};

/* Requests to the program `manage`, which the agent runs by BPF_PROG_TEST_RUN. */
enum svc_request {
	SVC_REQUEST_INSPECT = 0,
	SVC_REQUEST_PROTECT = 1,
	SVC_REQUEST_RELEASE = 2,
	/* How the kernel preempts now; ESRCH where it cannot be told. */
	SVC_REQUEST_PREEMPTION = 3,
	SVC_REQUEST_FORGET = 4,
	/* Only this process, and those of its pod that ask too, may open the files of the volume in which a descriptor
	 * of the agent lies. */
	SVC_REQUEST_GUARD_TOKEN = 5,
	/* This process writes tokens, and compares them before: it may open all. */
	SVC_REQUEST_KEEP_TOKENS = 6,
};

enum svc_answer_fact {
	/* Covered, itself or by its parents or its cgroup. */
	SVC_FACT_COVERED = 1,
	/* Somebody else opened its environment or memory before it was covered, or may have. */
	SVC_FACT_OPENED = 2,
};

struct svc_answer {
	struct svc_process process;
	__u64 cgroup;
	/* 0 or a negative errno: ESRCH; E2BIG or EDQUOT where there is no entry to be had; EOPNOTSUPP for a descriptor
	 * that is not of a tmpfs with a UUID */
	__s32 error;
	__u32 facts;
	__s32 preemption; /* of the kernel's own enum: 0 none, 1 voluntary, 2 full, 3 lazy */
	__u32 reserved;
};

#endif
