import type { PodCgroup } from './pod-cgroups.ts';

export interface Situation {
  /** Ids that are covered now, those of an earlier agent included. */
  readonly covered: ReadonlySet<bigint>;
  /** UIDs of the pods that are to be protected, as far as is known. */
  readonly wanted: ReadonlySet<string>;
  /** Whether that is known: the API server has listed them all to us at least once. */
  readonly listed: boolean;
  /** The pods' cgroups on this node; undefined where there is no sign of a kubelet's. */
  readonly found: readonly PodCgroup[] | undefined;
  /** Whether there is a cgroup of this id, a pod's or any other: the programs cover those of containers, too. */
  readonly isThere: (id: bigint) => boolean;
}

export interface Plan {
  readonly cover: readonly PodCgroup[];
  readonly release: readonly bigint[];
  /** Something is to come or to go: a pod's cgroup, or the one of a pod that is no longer to be protected. */
  readonly unsettled: boolean;
}

/**
 * What to do so that each wanted pod is covered. A cgroup is released when it is gone, never while processes may be
 * in it: that a pod is gone from the API says nothing about them.
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
