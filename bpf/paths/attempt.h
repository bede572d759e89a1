/* Common to all attack paths: who is attacked, and the verdict. */
#ifndef SVC_PATHS_ATTEMPT_H
#define SVC_PATHS_ATTEMPT_H

#include "report.h"

inlined void begin_attempt(struct attempt *attempt, enum svc_access_path path)
{
	__builtin_memset(attempt, 0, sizeof(*attempt));
	attempt->path = path;
	attempt->source = (struct task_struct *)bpf_get_current_task();
}

/* Whether another process attempts to access a covered process; fills in the target. */
static __noinline bool aims_at(struct attempt *attempt, struct task_struct *target)
{
	identify(target, &attempt->process);
	if (is_own_group(&attempt->process))
		return false;
	/* read before the lookup: a process that has finished forming by then is in the table */
	bool forming = is_forming(target);
	struct svc_protection *found = find_protection(target, &attempt->process);

	attempt->target = target;
	attempt->forming = !found && forming;
	if (!found)
		return attempt->forming;
	attempt->decoy = found->flags & SVC_PROTECTION_DECOY;
	/* the decoy tests the newest set of programs: a denial by an older set would hide the newest one's */
	return !attempt->decoy || is_reporting();
}

/* Whether the current process is covered; makes it the target. */
inlined bool is_covered_itself(struct attempt *attempt)
{
	attempt->target = attempt->source;
	identify(attempt->target, &attempt->process);
	return find_protection(attempt->target, &attempt->process);
}

struct bpf_map;

static long is_no_decoy(struct bpf_map *map, const void *key, struct svc_protection *value, bool *found)
{
	*found = !(value->flags & SVC_PROTECTION_DECOY);
	return *found;
}

/* Whether anything on this machine is covered, except for the agent's decoy. */
static __noinline int is_anything_covered(void)
{
	bool found = false;

	bpf_for_each_map_elem(&processes, is_no_decoy, &found, 0);
	if (!found)
		bpf_for_each_map_elem(&cgroups, is_no_decoy, &found, 0);
	return found;
}

/* Whether a path to all processes is guarded: not if there is nothing to protect. */
inlined bool is_machine_guarded(enum svc_left what)
{
	struct svc_settings *now = current_settings();

	return !(now && now->left & what) && is_anything_covered();
}

/* Reports the attempt. Returns the hook's result: `error`, or 0 if nothing is enforced. */
inlined int judge(const struct attempt *attempt, int error)
{
	bool enforcing = is_enforcing();

	report(attempt, enforcing ? SVC_OUTCOME_DENIED : SVC_OUTCOME_SEEN);
	return enforcing ? error : 0;
}

#endif
