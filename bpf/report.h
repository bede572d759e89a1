/* Reports access events, and evaluates the settings. */
#ifndef SVC_REPORT_H
#define SVC_REPORT_H

#include "arch.h"
#include "find/process.h"

/* An attempt detected on an attack path. */
struct attempt {
	enum svc_access_path path;
	struct task_struct *source;
	struct task_struct *target; /* 0: all processes of the machine */
	struct svc_process process; /* of the target */
	const struct svc_token *token; /* instead of a task: the token to be read */
	bool decoy;
	bool forming; /* the target does not run yet: denied, but not reported */
	__u32 call;
};

inlined void describe_task(struct task_struct *task, char comm[SVC_COMM], __u64 *cgroup)
{
	bpf_core_read_str(comm, SVC_COMM, &task->comm);
	*cgroup = cgroup_of(task);
}

static __noinline bool describe_token(struct svc_hit *hit, const struct svc_token *token)
{
	if (!token)
		return false;
	hit->target_cgroup = token->cgroup;
	__builtin_memcpy(hit->target_comm, token->comm, SVC_COMM);
	return true;
}

inlined void fill_hit(struct svc_hit *hit, const struct attempt *attempt, enum svc_outcome outcome)
{
	struct task_struct *source = attempt->source;

	__builtin_memset(hit, 0, sizeof(*hit));
	hit->time = bpf_ktime_get_boot_ns();
	hit->path = attempt->path;
	hit->outcome = outcome;
	hit->syscall = attempt->call;
	hit->source_tgid = BPF_CORE_READ(source, tgid);
	hit->source_tid = BPF_CORE_READ(source, pid);
	hit->source_uid = BPF_CORE_READ(source, cred, uid.val);
	describe_task(source, hit->source_comm, &hit->source_cgroup);
	hit->target_tgid = attempt->process.tgid;
	hit->target_start = attempt->process.start;
	/* in a function: the compiler merges two tests of pointers into one, which the verifier rejects */
	if (describe_token(hit, attempt->token) || !attempt->target)
		return;
	describe_task(attempt->target, hit->target_comm, &hit->target_cgroup);
}

/* Two sets of programs may be attached while one takes over from the other: only one of them reports. */
inlined bool is_reporting(void)
{
	struct svc_settings *now = current_settings();

	return now && now->generation == generation;
}

static __noinline void report(const struct attempt *attempt, enum svc_outcome outcome)
{
	if (!is_reporting() || attempt->forming)
		return;
	/* counted outside of the ring, which others can fill */
	if (attempt->decoy) {
		tally(SVC_TALLY_DECOY_HITS);
		return;
	}
	struct svc_hit *hit = bpf_ringbuf_reserve(&hits, sizeof(*hit), 0);

	if (!hit) {
		tally(SVC_TALLY_HITS_LOST);
		return;
	}
	fill_hit(hit, attempt, outcome);
	/* the agent polls the ring: waking it would cost an interrupt for each event */
	bpf_ringbuf_submit(hit, BPF_RB_NO_WAKEUP);
}

inlined bool is_enforcing(void)
{
	struct svc_settings *now = current_settings();

	/* settings are written before any program is attached; without them, fail closed */
	return !now || now->enforce;
}

#endif
