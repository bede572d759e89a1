import { type FSWatcher, watch } from 'node:fs';
import { messageOf } from '../../../runtime/errors.ts';
import { sleep, startPeriodic } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { type CgroupGuard, coverPods, planCover } from './cover-pods.ts';
import {
  type Folder,
  findCgroupRoot,
  folderAt,
  isCgroupThere,
  type PodCgroup,
  type PodCgroups,
  scanPodCgroups,
} from './pod-cgroups.ts';

export interface CoverageOptions {
  /** Mount point of the host's cgroups. */
  readonly folder: string;
  readonly guard: CgroupGuard;
  readonly log: Logger;
  /** UIDs of the pods to protect, and whether all of them are known. */
  readonly wanted: () => { readonly uids: ReadonlySet<string>; readonly listed: boolean };
  /** Called after each pass. */
  readonly onPass: (pass: CoveragePass) => void;
  /** Further work for the covered pods, on each pass. */
  readonly onCovered?: (pods: readonly PodCgroup[]) => PassOutcome;
  /** How long a pod may lack a cgroup before it counts as uncovered: the kubelet creates it when it starts the pod. */
  readonly startingMs?: number;
}

/**
 * `unsettled`: cgroups are yet to appear or disappear, so another pass is due; `starting`: a container is, so it is due
 * soon.
 */
export type PassOutcome = 'settled' | 'unsettled' | 'starting';

export interface CoveragePass {
  /** UIDs of the pods whose cgroup is in the kernel's table. */
  readonly covered: ReadonlySet<string>;
  /** Why pods to protect are not covered, by UID; without pods that may just be starting. */
  readonly uncovered: ReadonlyMap<string, string>;
  /** Why the pass failed. */
  readonly failure?: string;
}

/** Aligns the covered pods with the wanted ones whenever either may have changed. */
export interface Coverage {
  /** Requests a pass soon; calls in quick succession cause one pass. */
  refresh(): void;
  /** Which of these pods the kernel's table does not hold now, with the reason; includes starting pods. */
  uncovered(uids: Iterable<string>): ReadonlyMap<string, string>;
  close(): void;
}

const settleMs = 5;
const firstRetryMs = 25;
const lastRetryMs = 15_000;
/** A container reads its token within some tenths of a second. */
const whileStartingMs = 200;
const idleMs = 60_000;
const usualStartingMs = 10_000;

/** Events of the folders trigger passes; a pass after each pause makes up for lost events. */
export function keepCovered(options: CoverageOptions): Coverage {
  const ended = new AbortController();
  const { signal } = ended;
  const watch = watchFolders(() => refresh());
  const passes = new CoveragePasses(options, watch);
  let retryMs = firstRetryMs;
  let isDue = true;
  const pass = async () => {
    // Events come in bursts: one pass serves all of the next milliseconds.
    if (isDue) await sleep(settleMs, signal).catch(() => undefined);
    if (signal.aborted) return 0;
    isDue = false;
    const still = passes.next();
    const pauseMs = still === 'settled' ? idleMs : retryMs;
    retryMs = Math.min(retryMs * 2, still === 'starting' ? whileStartingMs : lastRetryMs);
    return pauseMs;
  };
  const periodic = startPeriodic({ pass, signal });
  const refresh = () => {
    if (isDue) return;
    isDue = true;
    retryMs = firstRetryMs;
    periodic.wake();
  };
  return {
    refresh,
    uncovered: (uids) => passes.uncovered(uids),
    close() {
      ended.abort();
      watch.close();
    },
  };
}

class CoveragePasses {
  readonly #options: CoverageOptions;
  readonly #watch: FolderWatch;
  #found: Found = { pods: [], parents: [], problem: 'Its cgroup has not been looked for yet.' };
  #failures: ReadonlyMap<string, string> = new Map();
  /** Since when a pod is wanted and not covered, by its UID. */
  #since = new Map<string, number>();

  constructor(options: CoverageOptions, watch: FolderWatch) {
    this.#options = options;
    this.#watch = watch;
  }

  next(): PassOutcome {
    const { guard, log, wanted, onPass, onCovered = () => 'settled' } = this.#options;
    try {
      this.#found = this.#look();
      const { pods, parents } = this.#found;
      const { uids, listed } = wanted();
      const found = parents.length === 0 ? undefined : pods;
      const covered = new Set(guard.cgroups());
      const root = findCgroupRoot(this.#options.folder);
      const isThere = (id: bigint) => root === undefined || isCgroupThere(root, id);
      const plan = planCover({ covered, wanted: uids, listed, found, isThere });
      this.#failures = coverPods(guard, plan, log);
      const held = new Set(guard.cgroups());
      const uncovered = this.uncovered(uids, held);
      const there = pods.filter(({ id }) => held.has(id));
      onPass({ covered: new Set(there.map(({ uid }) => uid)), uncovered: this.#overdue(uncovered) });
      const outcome = onCovered(there.filter(({ uid }) => uids.has(uid)));
      return outcome === 'settled' && (plan.unsettled || uncovered.size > 0) ? 'unsettled' : outcome;
    } catch (error) {
      onPass({ covered: new Set(), uncovered: new Map(), failure: messageOf(error) });
      return 'unsettled';
    }
  }

  /** @param held the cgroups in the kernel's table; default: as read now */
  uncovered(
    uids: Iterable<string>,
    held: ReadonlySet<bigint> = new Set(this.#options.guard.cgroups()),
  ): ReadonlyMap<string, string> {
    const idsOf = Map.groupBy(this.#found.pods, ({ uid }) => uid);
    const whyNot = (uid: string): string | undefined => {
      const cgroups = idsOf.get(uid);
      if (cgroups === undefined) return this.#found.problem ?? 'It has no cgroup on this node.';
      if (cgroups.every(({ id }) => held.has(id))) return undefined;
      return this.#failures.get(uid) ?? 'Its cgroup is not in the table in the kernel.';
    };
    return new Map([...uids].flatMap((uid) => withReason(uid, whyNot(uid))));
  }

  /** Sets the watch before reading the folders, so that changes in between cause another pass. */
  #look(): Found {
    const { folder } = this.#options;
    const root = findCgroupRoot(folder);
    if (root === undefined) return { pods: [], parents: [], problem: `There is no cgroup v2 at ${folder}.` };
    const before = scanPodCgroups(root);
    const { uids } = this.#options.wanted();
    // watched as well, because containers of pods to protect come and go in these folders
    const wanted = before.pods.filter(({ uid }) => uids.has(uid));
    this.#watch.set([folderAt(root) ?? [], before.parents, wanted].flat());
    const { pods, parents } = scanPodCgroups(root);
    const problem =
      parents.length === 0 ? `There are no cgroups of pods (kubepods) below ${root}.` : undefined;
    return { pods, parents, problem };
  }

  #overdue(uncovered: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    const { startingMs = usualStartingMs } = this.#options;
    const now = performance.now();
    this.#since = new Map([...uncovered.keys()].map((uid) => [uid, this.#since.get(uid) ?? now]));
    const isOverdue = (uid: string) =>
      this.#failures.has(uid) || now - (this.#since.get(uid) ?? now) >= startingMs;
    return new Map([...uncovered].filter(([uid]) => isOverdue(uid)));
  }
}

interface Found extends PodCgroups {
  /** Why no pod has a cgroup. */
  readonly problem: string | undefined;
}

const withReason = (uid: string, reason: string | undefined): [string, string][] =>
  reason === undefined ? [] : [[uid, reason]];

/** Reports at once when subfolders of a set of folders come and go. */
interface FolderWatch {
  /** Replaces the watched folders. A folder that was removed and created again is a different one. */
  set(folders: readonly Folder[]): void;
  close(): void;
}

/** Leaves out folders that cannot be watched: periodic passes cover them. */
function watchFolders(onChange: () => void): FolderWatch {
  const watchers = new Map<bigint, FSWatcher>();
  const drop = (id: bigint) => {
    watchers.get(id)?.close();
    watchers.delete(id);
  };
  const add = ({ path, id }: Folder) => {
    try {
      const watcher = watch(path, (event) => {
        if (event === 'rename') onChange();
      });
      watcher.on('error', () => drop(id));
      watchers.set(id, watcher);
    } catch {
      // gone, or the user's inotify instances are used up
    }
  };
  return {
    set(folders) {
      const wanted = new Set(folders.map(({ id }) => id));
      for (const id of [...watchers.keys()]) if (!wanted.has(id)) drop(id);
      for (const folder of folders) if (!watchers.has(folder.id)) add(folder);
    },
    close() {
      for (const id of [...watchers.keys()]) drop(id);
    },
  };
}
