import type { GuardStatus, ProcessFacts } from '../../../../../src/plugins/agent/guard/contract.ts';
import type { CgroupGuard } from '../../../../../src/plugins/agent/pods/cover-pods.ts';
import { SvcError } from '../../../../../src/runtime/errors.ts';

/** Remembers what it was asked to cover. */
export interface FakeGuard extends CgroupGuard {
  readonly covered: Set<bigint>;
  readonly pids: Set<number>;
  /** Ids of all that was ever released. */
  readonly released: bigint[];
  /** Most cgroups that it takes. */
  room: number;
  changeStatus(): void;
  /** Has these cgroups have more processes than the table keeps for one. */
  crowd(...ids: bigint[]): void;
}

export function createFakeGuard(earlier: readonly bigint[] = []): FakeGuard {
  const covered = new Set(earlier);
  const released: bigint[] = [];
  const listeners: ((status: GuardStatus) => void)[] = [];
  const crowdListeners: ((cgroups: readonly bigint[]) => void)[] = [];
  let crowded: readonly bigint[] = [];
  const guard: FakeGuard = {
    ...{ covered, released, pids: new Set(), room: 100 },
    protect(pid) {
      guard.pids.add(pid);
      return { pid } as ProcessFacts;
    },
    protectCgroup(id) {
      if (covered.size >= guard.room) throw new SvcError('GUARD_FULL', 'The table is full', { nextStep: '' });
      covered.add(id);
    },
    releaseCgroup(id) {
      released.push(id);
      covered.delete(id);
    },
    cgroups: () => [...covered],
    crowded: () => crowded,
    onCrowded: (listener) => void crowdListeners.push(listener),
    crowd(...ids) {
      crowded = ids;
      for (const listener of crowdListeners) listener(ids);
    },
    onStatus: (listener) => void listeners.push(listener),
    changeStatus() {
      for (const listener of listeners) listener({} as GuardStatus);
    },
  };
  return guard;
}
