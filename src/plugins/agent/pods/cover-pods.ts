import { messageOf, SvcError } from '../../../core/errors.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Guard } from '../guard/contract.ts';
import { processesIn } from './cgroup-processes.ts';
import type { Plan } from './plan.ts';
import type { PodCgroup } from './pod-cgroups.ts';

export type CgroupGuard = Pick<Guard, 'protect' | 'protectCgroup' | 'releaseCgroup' | 'cgroups' | 'onStatus'>;

/** Carries a plan out. @returns what could not be covered, each with its reason */
export function coverPods(
  guard: CgroupGuard,
  { cover, release }: Pick<Plan, 'cover' | 'release'>,
  log: Logger,
): readonly string[] {
  for (const id of release) {
    guard.releaseCgroup(id);
    log.info('pod.released', { cgroup: String(id) });
  }
  return cover.flatMap((pod) => coverPod(guard, pod, log));
}

/** The cgroup first: what is forked in it meanwhile is covered then, and what was in it before is next. */
function coverPod(guard: CgroupGuard, { uid, id, path }: PodCgroup, log: Logger): string[] {
  try {
    guard.protectCgroup(id);
    const pids = processesIn(path);
    for (const pid of pids) coverProcess(guard, pid);
    log.info('pod.covered', { pod: uid, cgroup: String(id), processes: pids.length });
    return [];
  } catch (error) {
    log.error('pod.uncovered', { pod: uid, cgroup: String(id), ...describeError(error) });
    return [`${uid}: ${messageOf(error)}`];
  }
}

function coverProcess(guard: CgroupGuard, pid: number): void {
  try {
    guard.protect(pid);
  } catch (error) {
    if (!(error instanceof SvcError && error.code === 'PROCESS_GONE')) throw error;
  }
}
