import { messageOf } from '../../../core/errors.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { type CgroupGuard, coverPods } from './cover-pods.ts';
import { type FolderWatch, watchFolders } from './folder-watch.ts';
import { folderAt } from './folders.ts';
import { planCover } from './plan.ts';
import { scanPodCgroups } from './pod-cgroups.ts';

export interface CoverageOptions {
  /** Where cgroup v2 is mounted. */
  readonly root: string;
  readonly guard: CgroupGuard;
  readonly log: Logger;
  /** UIDs of the pods that are to be protected, and whether all of them are known. */
  readonly wanted: () => { readonly uids: ReadonlySet<string>; readonly listed: boolean };
  /** After each round. */
  readonly onRound: (round: Round) => void;
}

export interface Round {
  /** Pods whose cgroup is covered. */
  readonly covered: number;
  /** What went wrong, a sentence each. */
  readonly failures: readonly string[];
}

/** Brings what is covered into line with what is wanted, whenever either may have changed. */
export interface Coverage {
  /** Soon; calls that come together make one round. */
  refresh(): void;
  close(): void;
}

const settleMs = 5;
const firstRetryMs = 250;
const lastRetryMs = 15_000;
const idleMs = 60_000;

/** The folders' own events make the rounds; a timer makes up for those that are lost. */
export function keepCovered(options: CoverageOptions): Coverage {
  const watch = watchFolders(() => refresh());
  let timer: NodeJS.Timeout | undefined;
  let retryMs = firstRetryMs;
  let isDue = false;
  let closed = false;
  const after = (ms: number) => {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(round, ms);
  };
  const round = () => {
    isDue = false;
    const unsettled = reconcile(options, watch);
    if (!isDue) after(unsettled ? retryMs : idleMs);
    retryMs = Math.min(retryMs * 2, lastRetryMs);
  };
  const refresh = () => {
    if (isDue) return;
    isDue = true;
    retryMs = firstRetryMs;
    after(settleMs);
  };
  refresh();
  return {
    refresh,
    close() {
      closed = true;
      clearTimeout(timer);
      watch.close();
    },
  };
}

/** The watch is set before the folders are read: what comes in between makes another round. @returns whether something is still to come or to go */
function reconcile({ root, guard, log, wanted, onRound }: CoverageOptions, watch: FolderWatch): boolean {
  try {
    watch.set([folderAt(root) ?? [], scanPodCgroups(root).parents].flat());
    const { pods, parents } = scanPodCgroups(root);
    const { uids, listed } = wanted();
    const found = parents.length === 0 ? undefined : pods;
    const plan = planCover({ covered: new Set(guard.cgroups()), wanted: uids, listed, found });
    const failures = coverPods(guard, plan, log);
    const covered = new Set(guard.cgroups());
    const uidsCovered = new Set(pods.filter(({ id }) => covered.has(id)).map(({ uid }) => uid));
    onRound({ covered: uidsCovered.size, failures });
    return plan.unsettled || failures.length > 0;
  } catch (error) {
    onRound({ covered: 0, failures: [messageOf(error)] });
    return true;
  }
}
