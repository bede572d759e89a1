import { closeSync } from 'node:fs';
import { BoundedMap } from '../../../core/bounded-map.ts';
import { messageOf } from '../../../core/errors.ts';
import { processKey } from '../../../core/protection/report.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import { startPeriodic } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Guard, ProcessFacts, ProtectedProcess } from '../guard/contract.ts';
import type { PassOutcome } from '../pods/coverage.ts';
import type { PodCgroup } from '../pods/pod-cgroups.ts';
import { findKubelet } from './find-kubelet.ts';
import { type LetIn, TokenContainers, type TokenContainersOptions } from './token-containers.ts';
import { openTokenVolume } from './token-volume.ts';

export interface TokenGuardOptions extends Omit<TokenContainersOptions, 'guard'> {
  readonly guard: Pick<Guard, 'inspect' | 'guardToken' | 'guardedTokens' | 'keepTokens' | 'status'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** Keeps the service account tokens of wrappers to the wrappers. */
export interface TokenGuard {
  /**
   * From now on the token volume of a pod, where it has one, opens for this process, for others that were let in so, and
   * for the kubelet. Never throws: where that cannot be, the log says why, and all may open it as before.
   * @param podUid as its cgroup names it
   */
  registered(process: ProcessFacts, podUid: string | undefined): void;
  /**
   * The same for the first process of each container that has the volume mounted: not all pods have a socket at which
   * their wrappers could register, and no proxy registers. Looks at each container until it knows.
   * @param pods all that are covered now
   * @returns whether another look is due soon, because a container is still starting, or some time
   */
  covered(pods: readonly PodCgroup[]): PassOutcome;
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
  const containers = new TokenContainers(options);
  const isOff = () => (guard.status.tier ?? 4) === 4;
  const tellOnce = (process: ProtectedProcess, outcome: string, tell: () => void) => {
    const key = processKey(process);
    if (told.get(key) !== outcome) tell();
    told.set(key, outcome);
  };
  const letIn: LetIn = (process, pod, check) => {
    const fields = { pid: process.pid, pod };
    try {
      const path = guardVolume(process.pid, pod, { guard, kubelet, check });
      if (path === undefined) return true;
      tellOnce(process, path, () => log.info('token.guarded', { ...fields, path }));
      volumes.set(guard.guardedTokens());
      return true;
    } catch (error) {
      const reason = messageOf(error);
      tellOnce(process, reason, () => log.warn('token.unguarded', { ...fields, reason }));
      return false;
    }
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
      if (pod !== undefined && !isOff()) letIn(process, pod, () => containers.requireFirst(process, pod));
    },
    covered(pods) {
      try {
        return isOff() ? 'settled' : containers.look(pods, letIn);
      } catch (error) {
        const reason = messageOf(error);
        tellOnce({ pid: 0, start: 0n }, reason, () => log.warn('token.unguarded', { reason }));
        return 'unsettled';
      }
    },
  };
}

export function tokenMetrics(metrics: Metrics): ReturnType<Metrics['gauge']> {
  return metrics.gauge(
    'svc_agent_guarded_tokens',
    'Token volumes that only wrappers, proxies and the kubelet open',
  );
}

interface GuardingParts {
  readonly guard: Pick<Guard, 'guardToken'>;
  readonly kubelet: Kubelet;
  /** @throws Error with why this process is not let in */
  readonly check: () => void;
}

/** @returns where the volume is; undefined where the pod has none. @throws Error with why it is not guarded */
function guardVolume(pid: number, pod: string, { guard, kubelet, check }: GuardingParts): string | undefined {
  const volume = openTokenVolume(pod);
  if (volume === undefined) return undefined;
  try {
    check();
    if (!kubelet.keep())
      throw new Error(
        `Nobody listens on port ${kubeletPort} who could be the kubelet, which renews the token`,
      );
    guard.guardToken(pid, volume.descriptor);
    return volume.path;
  } finally {
    closeSync(volume.descriptor);
  }
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
