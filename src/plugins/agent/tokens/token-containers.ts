import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { BoundedMap } from '../../../runtime/bounds/bounded-map.ts';
import { type Mount, mountsOf } from '../../../runtime/native/mounts.ts';
import { mostOfOneCgroup } from '../../../runtime/protocols/protection/bpf-layouts.ts';
import { processKey } from '../../../runtime/protocols/protection/report.ts';
import type { Guard, ProcessFacts, ProtectedProcess } from '../guard/contract.ts';
import { processesIn } from '../pods/cover-pods.ts';
import type { PassOutcome } from '../pods/coverage.ts';
import {
  containerIdOf,
  type Folder,
  findCgroupRoot,
  folderAt,
  namesIn,
  type PodCgroup,
  scanPodCgroups,
} from '../pods/pod-cgroups.ts';
import { findTokenMount, readHostMounts } from './token-volume.ts';

export interface TokenContainersOptions {
  readonly guard: Pick<Guard, 'inspect' | 'status'>;
  /** Mount point of the host's cgroups. */
  readonly cgroupRoot: string;
  /**
   * Whether a container may be one to which the operator gives the token.
   * @param container the runtime's id; undefined if its cgroup's name does not tell
   */
  readonly mayHold: (podUid: string, container: string | undefined) => boolean;
}

/**
 * Lets a process open its pod's token, unless `check` throws the reason against it.
 * @returns whether the result is final; otherwise it is tried again
 */
export type LetIn = (process: ProcessFacts, podUid: string, check: () => void) => boolean;

/** What is known about a container, by the id of its cgroup, which is never reused. */
interface KnownContainer {
  readonly since: number;
  /** The process that the container was started with; a different one that is the oldest later was brought in. */
  first: string | undefined;
  /** The tier on which the container was settled; undefined if not yet. */
  settledOn: number | undefined;
  /** Number of checks so far. */
  looks: number;
}

const mostKnown = 4_096;
/** Limit of containers checked in one pass; the others follow in the next. */
const mostPerPass = 64;
/**
 * A cgroup without a started process after this time is not a container of the runtime, or waits for something else.
 */
const startingMs = 30_000;

/** Finds the process of each container that may open its pod's token: the one that the container was started with. */
export class TokenContainers {
  readonly #options: TokenContainersOptions;
  readonly #known = new BoundedMap<bigint, KnownContainer>(mostKnown);

  constructor(options: TokenContainersOptions) {
    this.#options = options;
  }

  /** @throws Error unless the process is the first one of a container that may hold the token */
  requireFirst(process: ProcessFacts, podUid: string): void {
    const root = findCgroupRoot(this.#options.cgroupRoot);
    const pods = root === undefined ? [] : scanPodCgroups(root).pods;
    const pod = pods.find(({ uid }) => uid === podUid);
    const container = containersIn(pod?.path ?? '').find(({ id }) => id === process.cgroup);
    const first = container && firstProcessIn(container.path, this.#options.guard);
    if (container === undefined || first?.start !== process.start) throw broughtIn();
    this.#requireSame(container, process);
    if (!this.#options.mayHold(podUid, containerIdOf(container.path)))
      throw new Error('The operator does not give the token to this container');
  }

  /** Checks each container until it is known which of its processes may open the volume. */
  look(pods: readonly PodCgroup[], letIn: LetIn): PassOutcome {
    const { tier } = this.#options.guard.status;
    const now = performance.now();
    const open = pods
      .flatMap(({ uid, path }) => containersIn(path).map((container) => ({ uid, container })))
      .map((one) => ({ ...one, known: this.#entry(one.container) }))
      .filter(({ known }) => known.settledOn !== tier)
      .sort((one, other) => one.known.looks - other.known.looks);
    const hostMounts = open.length === 0 ? [] : readHostMounts();
    const outcomes = open.map(({ uid, container, known }, index): PassOutcome => {
      if (index >= mostPerPass) return 'starting';
      known.looks += 1;
      const outcome = this.#settle(uid, container, hostMounts, letIn);
      if (outcome === 'settled') known.settledOn = tier;
      return outcome === 'starting' && now - known.since >= startingMs ? 'settled' : outcome;
    });
    if (outcomes.includes('starting')) return 'starting';
    return outcomes.includes('unsettled') ? 'unsettled' : 'settled';
  }

  #settle(podUid: string, container: Folder, hostMounts: readonly Mount[], letIn: LetIn): PassOutcome {
    const { guard, mayHold } = this.#options;
    const process = firstProcessIn(container.path, guard);
    if (process === undefined) return 'starting';
    const settled = (check: () => void): PassOutcome =>
      letIn(process, podUid, check) ? 'settled' : 'unsettled';
    try {
      const view = viewOfVolume(process.pid, podUid, hostMounts);
      if (view !== 'mounted') return view === 'without' ? 'settled' : 'starting';
    } catch (error) {
      return settled(() => {
        throw error;
      });
    }
    if (!mayHold(podUid, containerIdOf(container.path))) return 'unsettled';
    return settled(() => this.#requireSame(container, process));
  }

  /** @throws Error if the container's first process was a different one in an earlier check */
  #requireSame(container: Folder, process: ProtectedProcess): void {
    const known = this.#entry(container);
    known.first ??= processKey(process);
    if (known.first !== processKey(process)) throw broughtIn();
  }

  #entry({ id }: Folder): KnownContainer {
    const known = this.#known.get(id) ?? {
      ...{ since: performance.now(), first: undefined, settledOn: undefined, looks: 0 },
    };
    this.#known.set(id, known);
    return known;
  }
}

const broughtIn = () =>
  new Error('The process is not the first one of its container: it may have been injected');

/** The cgroups of a pod's containers, including its sandbox. */
function containersIn(pod: string): Folder[] {
  return namesIn(pod)
    .map((name) => folderAt(join(pod, name)))
    .filter((folder) => folder !== undefined);
}

/**
 * The process that a container was started with, while it lives: nothing in its cgroup is older. Processes brought in
 * by `kubectl exec` are younger.
 * @returns undefined if nothing runs in the container, or too many processes to look at each of them
 */
function firstProcessIn(container: string, guard: Pick<Guard, 'inspect'>): ProcessFacts | undefined {
  return fewProcessesIn(container)
    .map((pid) => guard.inspect(pid))
    .filter((facts) => facts !== undefined)
    .reduce<ProcessFacts | undefined>(
      (oldest, one) => (oldest === undefined || one.start < oldest.start ? one : oldest),
      undefined,
    );
}

function fewProcessesIn(container: string): number[] {
  try {
    const pids = processesIn(container);
    return pids.length > mostOfOneCgroup ? [] : pids;
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** `starting`: the process still sees the node's mounts, because the runtime has not changed its root yet. */
type VolumeView = 'starting' | 'mounted' | 'without';

/**
 * Whether a process sees its pod's token volume in its container, not just by the kubelet's own path.
 * @throws Error of `findTokenMount` or `mountsOf`
 */
function viewOfVolume(pid: number, podUid: string, hostMounts: readonly Mount[]): VolumeView {
  const volume = findTokenMount(hostMounts, podUid);
  if (volume === undefined) return 'without';
  try {
    if (isSame(statSync(`/proc/${pid}/root/`), statSync('/proc/1/root/'))) return 'starting';
    for (const { device, path } of mountsOf(`/proc/${pid}/mountinfo`))
      if (device === volume.device && path !== volume.path) return 'mounted';
    return 'without';
  } catch (error) {
    // the container decides how many mounts it has
    if (error instanceof RangeError) throw error;
    // the process has ended: another one is now the first, or the container is gone
    return 'starting';
  }
}

const isSame = (one: Stats, other: Stats): boolean => one.dev === other.dev && one.ino === other.ino;
