import { closeSync } from 'node:fs';
import { BoundedMap } from '../../../core/bounded-map.ts';
import { messageOf } from '../../../core/errors.ts';
import { processKey } from '../../../core/protection/report.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import { startPeriodic } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Guard, ProcessFacts, ProtectedProcess } from '../guard/contract.ts';
import {
  containerIdOf,
  type Folder,
  findCgroupRoot,
  type PodCgroup,
  scanPodCgroups,
} from '../pods/pod-cgroups.ts';
import { findKubelet } from './find-kubelet.ts';
import { containersIn, firstProcessIn, type VolumeView, viewOfVolume } from './first-process.ts';
import { type Mount, openTokenVolume, readHostMounts } from './token-volume.ts';

export interface TokenGuardOptions {
  readonly guard: Pick<Guard, 'inspect' | 'guardToken' | 'guardedTokens' | 'keepTokens' | 'status'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Where the host's cgroups are mounted. */
  readonly cgroupRoot: string;
  /**
   * Whether a container may be one of those that the operator gives the token.
   * @param container the runtime's id; undefined where its cgroup does not name it
   */
  readonly mayHold: (podUid: string, container: string | undefined) => boolean;
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
   * @returns whether a container is still starting, so that another look is due soon
   */
  covered(pods: readonly PodCgroup[]): boolean;
}

/** Where a kubelet listens that was given no other port. */
const kubeletPort = 10_250;
const kubeletEveryMs = 2_000;
const mostKnown = 4_096;
/** So many containers are looked at in one pass; the others come next. */
const mostPerPass = 64;
/** One that has not started by then is no container of the runtime's, or waits for something else. */
const startingMs = 30_000;

export function createTokenGuard(options: TokenGuardOptions): TokenGuard {
  const { guard, log, metrics, signal } = options;
  const volumes = tokenMetrics(metrics);
  const told = new BoundedMap<string, string>(mostKnown);
  const kubelet = createKubelet(options);
  const containers = new Containers(options);
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
        return !isOff() && containers.look(pods, letIn);
      } catch (error) {
        const reason = messageOf(error);
        tellOnce({ pid: 0, start: 0n }, reason, () => log.warn('token.unguarded', { reason }));
        return false;
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

/** What is known of a container, by the id of its cgroup, which is never used twice. */
interface KnownContainer {
  readonly since: number;
  /** The process that it was started with; another one that is the oldest later on was brought in. */
  first: string | undefined;
  /** On which tier it was found out who of it opens the volume; undefined: not yet. */
  settledOn: number | undefined;
}

/** @returns whether that is settled; else there is another try */
type LetIn = (process: ProcessFacts, pod: string, check: () => void) => boolean;

class Containers {
  readonly #options: TokenGuardOptions;
  readonly #known = new BoundedMap<bigint, KnownContainer>(mostKnown);

  constructor(options: TokenGuardOptions) {
    this.#options = options;
  }

  /** @throws Error where it is not the first process of a container that may hold the token */
  requireFirst(process: ProcessFacts, podUid: string): void {
    const root = findCgroupRoot(this.#options.cgroupRoot);
    const pods = root === undefined ? [] : scanPodCgroups(root).pods;
    const pod = pods.find(({ uid }) => uid === podUid);
    const container = containersIn(pod?.path ?? '').find(({ id }) => id === process.cgroup);
    const first = container && firstProcessIn(container.path, this.#options.guard);
    if (container === undefined || first?.start !== process.start) throw broughtIn();
    this.#requireSame(container, process);
    if (!this.#options.mayHold(podUid, containerIdOf(container.path)))
      throw new Error('The container is not one of those that the operator gives the token');
  }

  look(pods: readonly PodCgroup[], letIn: LetIn): boolean {
    const { tier } = this.#options.guard.status;
    const now = performance.now();
    const all = pods.flatMap(({ uid, path }) => containersIn(path).map((container) => ({ uid, container })));
    const open = all.filter(({ container }) => this.#entry(container).settledOn !== tier);
    const turn = open.slice(0, mostPerPass);
    const hostMounts = turn.length === 0 ? [] : readHostMounts();
    for (const { uid, container } of turn)
      if (this.#settle(uid, container, hostMounts, letIn)) this.#entry(container).settledOn = tier;
    const isStarting = ({ container }: { container: Folder }) => {
      const { settledOn, since } = this.#entry(container);
      return settledOn !== tier && now - since < startingMs;
    };
    return open.some(isStarting);
  }

  /** @returns whether it is known who of this container opens the volume */
  #settle(pod: string, container: Folder, mounts: readonly Mount[], letIn: LetIn): boolean {
    const { guard, mayHold } = this.#options;
    const process = firstProcessIn(container.path, guard);
    if (process === undefined) return false;
    let view: VolumeView;
    try {
      view = viewOfVolume(process.pid, pod, mounts);
    } catch (error) {
      return letIn(process, pod, () => {
        throw error;
      });
    }
    if (view !== 'mounted') return view === 'without';
    if (!mayHold(pod, containerIdOf(container.path))) return false;
    return letIn(process, pod, () => this.#requireSame(container, process));
  }

  /** @throws Error where another process of the container was asked about before */
  #requireSame(container: Folder, process: ProtectedProcess): void {
    const known = this.#entry(container);
    known.first ??= processKey(process);
    if (known.first !== processKey(process)) throw broughtIn();
  }

  #entry({ id }: Folder): KnownContainer {
    const known = this.#known.get(id) ?? {
      ...{ since: performance.now(), first: undefined, settledOn: undefined },
    };
    this.#known.set(id, known);
    return known;
  }
}

const broughtIn = () =>
  new Error('The process is not the first one of its container: it may have been brought in');

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
