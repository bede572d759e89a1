import { randomUUID } from 'node:crypto';
import { mkdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syscallName } from '../../../../../src/plugins/agent/access-events.ts';
import { createGuard, type StartingGuard } from '../../../../../src/plugins/agent/guard/create-guard.ts';
import { unpinAll } from '../../../../../src/plugins/agent/guard/program-set.ts';
import { coverPods } from '../../../../../src/plugins/agent/pods/cover-pods.ts';
import { findCgroupRoot, type PodCgroup } from '../../../../../src/plugins/agent/pods/pod-cgroups.ts';
import type { AccessEvent } from '../../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { startLineProcess } from '../../../../support/bypass/line-process.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { recordingLog } from '../../access-events/recording-log.ts';
import { eachAccessEvent } from '../../guard/each-access-event.ts';
import type { Place } from './place.ts';
import type { AgentMode } from './plan.ts';
import type { AccessEventLine } from './records.ts';
import type { Session } from './session.ts';

const { log } = recordingLog();

/** A place that has a cgroup (v2). */
export interface CgroupPlace extends Place {
  readonly path: string;
}

/** The agent's guard, and the agent's own way of covering the pods that its node's API server names. */
export async function startCgroupSession(folder: string, mode: AgentMode): Promise<Session> {
  const hits: AccessEventLine[] = [];
  const guard = createGuard({
    ...{
      folder,
      enforce: mode.enforce,
      kill: mode.kill,
      tiers: mode.tiers ?? [1, 2, 3],
      intervalMs: 2_000,
      log,
    },
    onTallies() {},
    onCanary() {},
  });
  guard.onHit(eachAccessEvent((hit) => hits.push(accessEventLine(hit))));
  await guard.start();
  return {
    facts: { tier: guard.status.tier ?? 0, enforcing: guard.status.enforcing },
    kills: mode.enforce && mode.kill,
    hits,
    place: async () => cgroupPlace(guard),
    counted: async () => countAccessEvents(hits),
    held: () => 0,
    async close() {
      await guard.close();
      unpinAll(folder);
      for (const path of [kubepods(), dirname(kubepods())]) await removeCgroup(path);
    },
  };
}

/** Below a cgroup root of one's own. */
function kubepods(): string {
  const root = findCgroupRoot('/sys/fs/cgroup');
  if (root === undefined) throw new Error('There is no cgroup v2');
  return join(root, `svc-test-${process.pid}`, 'kubepods');
}

/** Where the kubelet puts the cgroup of a pod. */
function podCgroup(): PodCgroup {
  const uid = randomUUID();
  const path = join(kubepods(), `pod${uid}`);
  mkdirSync(path, { recursive: true });
  return { uid, path, id: statSync(path, { bigint: true }).ino };
}

/** A shell enters the cgroup and becomes the program. */
const enter = 'folder=$0; echo 0 >"$folder/cgroup.procs"; exec "$@"';

function cgroupPlace(guard: StartingGuard): CgroupPlace {
  const pod = podCgroup();
  return {
    path: pod.path,
    start: (program, args, env) =>
      startLineProcess('/bin/sh', ['-c', enter, pod.path, program, ...args], env),
    async protect() {
      const [failure] = coverPods(guard, { cover: [pod], release: [] }, log).values();
      if (failure !== undefined) throw new Error(failure);
      return undefined;
    },
    end: () => removeCgroup(pod.path),
  };
}

/** A cgroup is removable once the last of its processes has been reaped. */
async function removeCgroup(path: string): Promise<void> {
  await waitFor(`${path} to be empty`, () => {
    rmdirSync(path);
    return true;
  });
}

function accessEventLine({ road, outcome, syscall, source, target }: AccessEvent): AccessEventLine {
  return {
    ...{ road, outcome, syscall: syscallName(syscall) ?? String(syscall) },
    ...{ sourcePid: source.pid, sourceComm: source.comm },
    ...(target.pid === 0 ? {} : { targetPid: target.pid }),
  };
}

export function countAccessEvents(hits: readonly AccessEventLine[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { road, outcome } of hits) {
    const name = `${road} ${outcome}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
