import { join } from 'node:path';
import { messageOf, SvcError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { partsOf } from '../../../runtime/native/proc-text.ts';
import type { Guard } from '../guard/contract.ts';
import { isGone, namesIn, type PodCgroup } from './pod-cgroups.ts';

export type CgroupGuard = Pick<
  Guard,
  'protect' | 'protectCgroup' | 'releaseCgroup' | 'cgroups' | 'crowded' | 'onCrowded' | 'onStatus'
>;

/** Carries out a plan. @returns why pods could not be covered, by UID */
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

/** The cgroup first, so that processes forked meanwhile are covered; then the processes already in it. */
function coverPod(guard: CgroupGuard, { uid, id, path }: PodCgroup, log: Logger): void {
  guard.protectCgroup(id);
  const pids = processesIn(path);
  for (const pid of pids) coverProcess(guard, pid);
  // without programs in force the guard only remembers the cgroup
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

const deepest = 8;
/** A container may make as many cgroups as it likes, each of which is read at once. */
const maxCgroups = 4_096;
/** As the table of processes has. */
const maxProcesses = 65_536;
/** A PID has at most seven digits. */
const maxBytes = 8 * maxProcesses;

/**
 * PIDs of the processes in a cgroup and below it, in this process's PID namespace.
 * @throws RangeError for more cgroups or processes than can be covered one by one
 */
export function processesIn(path: string): number[] {
  const found: number[] = [];
  const folders = [{ path, depth: 0 }];
  // also visits those that are added during the loop
  for (const folder of folders) {
    addProcesses(folder.path, found);
    if (folder.depth === deepest) continue;
    for (const name of namesIn(folder.path)) {
      if (folders.push({ path: join(folder.path, name), depth: folder.depth + 1 }) > maxCgroups)
        throw new RangeError(`${path} has more than ${maxCgroups} cgroups below it`);
    }
  }
  return found;
}

/** Processes of other PID namespaces read as 0. A threaded cgroup lists none: its parent does. */
function addProcesses(path: string, found: number[]): void {
  try {
    for (const line of partsOf(join(path, 'cgroup.procs'), { maxBytes })) {
      const pid = Number(line);
      if (pid > 0 && found.push(pid) > maxProcesses)
        throw new RangeError(`${path} has more than ${maxProcesses} processes`);
    }
  } catch (error) {
    if (!isGone(error) && (error as NodeJS.ErrnoException).code !== 'EOPNOTSUPP') throw error;
  }
}

export interface Situation {
  /** Ids that are covered now, including an earlier agent's. */
  readonly covered: ReadonlySet<bigint>;
  /** UIDs of the known pods to protect. */
  readonly wanted: ReadonlySet<string>;
  /** Whether `wanted` is complete: the API server has listed all pods at least once. */
  readonly listed: boolean;
  /** The pods' cgroups on this node; undefined if there is no sign of a kubelet. */
  readonly found: readonly PodCgroup[] | undefined;
  /** Whether a cgroup with this id exists, a pod's or any other: the programs also cover cgroups of containers. */
  readonly isThere: (id: bigint) => boolean;
}

interface Plan {
  readonly cover: readonly PodCgroup[];
  readonly release: readonly bigint[];
  /** Whether a pod's cgroup is yet to appear, or that of a pod no longer to protect is yet to disappear. */
  readonly unsettled: boolean;
}

/**
 * What to do so that each wanted pod is covered. A cgroup is released only when it is gone, never while it may contain
 * processes: a pod that is gone from the API may still have some.
 */
export function planCover({ covered, wanted, listed, found, isThere }: Situation): Plan {
  if (found === undefined) return { cover: [], release: [], unsettled: wanted.size > 0 };
  const there = new Set(found.map(({ id }) => id));
  const present = new Set(found.map(({ uid }) => uid));
  const leaving = found.some(({ id, uid }) => covered.has(id) && !wanted.has(uid));
  return {
    cover: found.filter(({ id, uid }) => wanted.has(uid) && !covered.has(id)),
    release: listed ? [...covered].filter((id) => !there.has(id) && !isThere(id)) : [],
    unsettled: leaving || [...wanted].some((uid) => !present.has(uid)),
  };
}
