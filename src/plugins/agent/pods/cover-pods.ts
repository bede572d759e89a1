import { messageOf, SvcError } from '../../../core/errors.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Guard } from '../guard/contract.ts';
import { processesIn } from './cgroup-processes.ts';
import type { Plan } from './plan.ts';
import type { PodCgroup } from './pod-cgroups.ts';

export type CgroupGuard = Pick<
  Guard,
  'protect' | 'protectCgroup' | 'releaseCgroup' | 'cgroups' | 'crowded' | 'onCrowded' | 'onStatus'
>;

/** Carries a plan out. @returns why a pod could not be covered, by its UID */
export function coverPods(
  guard: CgroupGuard,
  { cover, release }: Pick<Plan, 'cover' | 'release'>,
  log: Logger,
): ReadonlyMap<string, string> {
  for (const id of release) {
    guard.releaseCgroup(id);
    log.info('pod.released', { cgroup: String(id) });
  }
  const failures = new Map<string, string>();
  for (const pod of cover) {
    try {
      coverPod(guard, pod, log);
    } catch (error) {
      failures.set(pod.uid, messageOf(error));
    }
  }
  return failures;
}

/** The cgroup first: what is forked in it meanwhile is covered then, and what was in it before is next. */
function coverPod(guard: CgroupGuard, { uid, id, path }: PodCgroup, log: Logger): void {
  guard.protectCgroup(id);
  const pids = processesIn(path);
  for (const pid of pids) coverProcess(guard, pid);
  // without programs in force it is only remembered
  if (!guard.cgroups().includes(id)) return;
  log.info('pod.covered', { pod: uid, cgroup: String(id), processes: pids.length });
}

function coverProcess(guard: CgroupGuard, pid: number): void {
  try {
    guard.protect(pid);
  } catch (error) {
    if (!(error instanceof SvcError && error.code === 'PROCESS_GONE')) throw error;
  }
}
