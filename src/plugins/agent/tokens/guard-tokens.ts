import { closeSync } from 'node:fs';
import { BoundedMap } from '../../../runtime/bounds/bounded-map.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import { startPeriodic } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { processKey } from '../../../runtime/protocols/protection/report.ts';
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

/** Reserves the service account tokens of wrappers for the wrappers. */
export interface TokenGuard {
  /**
   * From now on only this process, others that were let in, and the kubelet may open the pod's token volume, if it has
   * one. Never throws: if the volume cannot be guarded, the log says why, and all processes may open it as before.
   * @param podUid as in the name of the pod's cgroup
   */
  registered(process: ProcessFacts, podUid: string | undefined): void;
  /**
   * Lets in the first process of each container that mounts the volume: not every pod has a socket where its wrappers
   * could register, and proxies never register. Checks each container until the answer is known.
   * @param pods all currently covered pods
   * @returns whether another check is due: soon if a container is still starting
   */
  covered(pods: readonly PodCgroup[]): PassOutcome;
}

/** The kubelet's default port. */
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
        // a restarted kubelet must read what the previous one wrote
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
  /** @throws Error with the reason if this process must not be let in */
  readonly check: () => void;
}

/** @returns path of the volume; undefined if the pod has none. @throws Error with why it is not guarded */
function guardVolume(pid: number, pod: string, { guard, kubelet, check }: GuardingParts): string | undefined {
  const volume = openTokenVolume(pod);
  if (volume === undefined) return undefined;
  try {
    check();
    if (!kubelet.keep())
      throw new Error(`No process on port ${kubeletPort} can be the kubelet, which renews the token`);
    guard.guardToken(pid, volume.descriptor);
    return volume.path;
  } finally {
    closeSync(volume.descriptor);
  }
}

interface Kubelet {
  /** Lets the kubelet open all guarded volumes. @returns whether there is a kubelet */
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
