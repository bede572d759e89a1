import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { BoundedMap } from '../../../core/bounded-map.ts';
import { messageOf } from '../../../core/errors.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import { startPeriodic } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Guard, ProcessFacts, ProtectedProcess } from '../guard/contract.ts';
import { processesIn } from '../pods/cover-pods.ts';
import { findCgroupRoot, folderAt, namesIn, scanPodCgroups } from '../pods/pod-cgroups.ts';
import { findKubelet } from './find-kubelet.ts';
import { openTokenVolume } from './token-volume.ts';

export interface TokenGuardOptions {
  readonly guard: Pick<Guard, 'inspect' | 'guardToken' | 'guardedTokens' | 'keepTokens' | 'status'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Where the host's cgroups are mounted. */
  readonly cgroupRoot: string;
  readonly signal: AbortSignal;
}

/** Keeps the service account tokens of wrappers to the wrappers. */
export interface TokenGuard {
  /**
   * From now on the token volume of a pod, where it has one, opens for this process, for others that were registered
   * so, and for the kubelet. Never throws: where that cannot be, the log says why, and all may open it as before.
   * @param podUid as its cgroup names it
   */
  registered(process: ProcessFacts, podUid: string | undefined): void;
}

/** Where a kubelet listens that was given no other port. */
const kubeletPort = 10_250;
const kubeletEveryMs = 2_000;
const mostKnown = 4_096;

export function createTokenGuard(options: TokenGuardOptions): TokenGuard {
  const { guard, log, metrics, signal } = options;
  const volumes = tokenMetrics(metrics);
  const told = new BoundedMap<string, string>(mostKnown);
  const kubelet = createKubelet(options);
  const tellOnce = ({ pid, start }: ProcessFacts, outcome: string, tell: () => void) => {
    const key = `${pid} ${start}`;
    if (told.get(key) !== outcome) tell();
    told.set(key, outcome);
  };
  startPeriodic({
    signal,
    pass: async () => {
      try {
        const count = guard.guardedTokens();
        volumes.set(count);
        // one that was started anew has to read what the one before it wrote
        if (count > 0) kubelet.keep();
      } catch (error) {
        log.error('token.kubelet_failed', { error: messageOf(error) });
      }
      return kubeletEveryMs;
    },
  });
  return {
    registered(process, pod) {
      if (pod === undefined || (guard.status.tier ?? 4) === 4) return;
      const fields = { pid: process.pid, pod };
      try {
        const path = guardVolume(process, pod, options, kubelet);
        if (path === undefined) return;
        tellOnce(process, path, () => log.info('token.guarded', { ...fields, path }));
        volumes.set(guard.guardedTokens());
      } catch (error) {
        const reason = messageOf(error);
        tellOnce(process, reason, () => log.warn('token.unguarded', { ...fields, reason }));
      }
    },
  };
}

export function tokenMetrics(metrics: Metrics): ReturnType<Metrics['gauge']> {
  return metrics.gauge('svc_agent_guarded_tokens', 'Token volumes that only wrappers and the kubelet open');
}

/** @returns where the volume is; undefined where the pod has none. @throws Error with why it is not guarded */
function guardVolume(
  process: ProcessFacts,
  pod: string,
  { guard, cgroupRoot }: TokenGuardOptions,
  kubelet: Kubelet,
): string | undefined {
  const volume = openTokenVolume(pod);
  if (volume === undefined) return undefined;
  try {
    if (!isFirstOfContainer(process, pod, { guard, cgroupRoot }))
      throw new Error('The process is not the first one of its container: it may have been brought in');
    if (!kubelet.keep())
      throw new Error(
        `Nobody listens on port ${kubeletPort} who could be the kubelet, which renews the token`,
      );
    guard.guardToken(process.pid, volume.descriptor);
    return volume.path;
  } finally {
    closeSync(volume.descriptor);
  }
}

/**
 * Whether a process was started as its container was: it lies in the container's own cgroup, and nothing there is
 * older. What `kubectl exec` brings in comes later, whatever it is.
 */
export function isFirstOfContainer(
  { start, cgroup }: Pick<ProcessFacts, 'start' | 'cgroup'>,
  podUid: string,
  { guard, cgroupRoot }: Pick<TokenGuardOptions, 'cgroupRoot'> & { guard: Pick<Guard, 'inspect'> },
): boolean {
  const root = findCgroupRoot(cgroupRoot);
  const pod = root === undefined ? undefined : scanPodCgroups(root).pods.find(({ uid }) => uid === podUid);
  if (pod === undefined) return false;
  const container = namesIn(pod.path)
    .map((name) => folderAt(join(pod.path, name)))
    .find((folder) => folder?.id === cgroup);
  if (container === undefined) return false;
  return processesIn(container.path).every((pid) => (guard.inspect(pid)?.start ?? start) >= start);
}

interface Kubelet {
  /** Has the programs know it. @returns whether there is one */
  keep(): boolean;
}

function createKubelet({ guard, log }: TokenGuardOptions): Kubelet {
  let known: ProtectedProcess | undefined;
  return {
    keep() {
      const isThere = known !== undefined && guard.inspect(known.pid)?.start === known.start;
      if (isThere) return true;
      const pid = findKubelet(kubeletPort);
      const start = pid === undefined ? undefined : guard.inspect(pid)?.start;
      known = pid === undefined || start === undefined ? undefined : { pid, start };
      if (known === undefined) return false;
      guard.keepTokens(known.pid);
      log.info('token.kubelet', { pid: known.pid });
      return true;
    },
  };
}
