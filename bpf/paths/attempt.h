/* What every attack path does with what it has recognised. */
#ifndef SVC_ROADS_ATTEMPT_H
#define SVC_ROADS_ATTEMPT_H

#include "report.h"

inlined void begin_attempt(struct attempt *attempt, enum svc_access_path path)
{
	__builtin_memset(attempt, 0, sizeof(*attempt));
	attempt->path = path;
	attempt->source = (struct task_struct *)bpf_get_current_task();
}

/* Whether it is an attempt on a covered process by another one; fills in the target. */
static __noinline bool aims_at(struct attempt *attempt, struct task_struct *target)
{
	identify(target, &attempt->process);
	if (is_own_group(&attempt->process))
		return false;
	/* before it is looked up: what has formed by then is in the table by then */
	bool forming = is_forming(target);
	struct svc_protection *found = find_protection(target, &attempt->process);

	attempt->target = target;
	attempt->forming = !found && forming;
	if (!found)
		return attempt->forming;
	attempt->decoy = found->flags & SVC_PROTECTION_DECOY;
	/* the decoy is for the newest set to prove itself by: an older one that denies first would hide it */
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

/* Whether anything on this machine is covered, beside the agent's decoy. */
static __noinline int is_anything_covered(void)
{
	bool found = false;

	bpf_for_each_map_elem(&processes, is_no_decoy, &found, 0);
	if (!found)
		bpf_for_each_map_elem(&cgroups, is_no_decoy, &found, 0);
	return found;
}

/* Whether a way to the memory of all processes is guarded: not where there is nothing to be found on it. */
inlined bool is_machine_guarded(enum svc_left what)
{
	struct svc_settings *now = current_settings();

	return !(now && now->left & what) && is_anything_covered();
}

/* Answers `error`, to be returned by a hook, or 0 where nothing is enforced. */
inlined int judge(const struct attempt *attempt, int error)
{
	bool enforcing = is_enforcing();

	report(attempt, enforcing ? SVC_OUTCOME_DENIED : SVC_OUTCOME_SEEN);
	return enforcing ? error : 0;
}

#endif
