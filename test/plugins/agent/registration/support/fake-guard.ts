import { readFileSync } from 'node:fs';
import type { Guard, GuardStatus, ProcessFacts } from '../../../../../src/plugins/agent/guard/contract.ts';
import { SvcError } from '../../../../../src/runtime/errors.ts';
import { statFields } from '../../../../../src/runtime/native/processes.ts';

export interface FakeGuard extends Guard {
  status: GuardStatus;
  /** Every PID that was protected, in order. */
  readonly protected: number[];
  /** Whether whoever registers is traced. */
  traced: boolean;
  /** Replaces what /proc says of a process. */
  facts: (facts: ProcessFacts) => ProcessFacts | undefined;
  /** Called before a process is protected. */
  onProtect: (pid: number) => void;
  /** Protected before: what an earlier agent left. */
  readonly earlier: { pid: number; start: bigint }[];
}

export const enforcing: GuardStatus = { tier: 1, enforcing: true, reason: '', passedOver: [] };
const startField = 19;
const tick = 10_000_000n;

/** A guard that keeps nobody out: it knows real processes by /proc. */
export function fakeGuard(status: GuardStatus = enforcing): FakeGuard {
  const covered = new Set<string>();
  const look = (pid: number): ProcessFacts | undefined => {
    const start = startOf(pid);
    if (start === undefined) return undefined;
    const earlier = guard.earlier.some((known) => known.pid === pid && known.start === start);
    return guard.facts({
      ...{ pid, start, cgroup: 1n, openedBefore: false },
      covered: earlier || covered.has(`${pid} ${start}`),
    });
  };
  const guard: FakeGuard = {
    status,
    protected: [],
    earlier: [],
    traced: false,
    isTraced: async () => guard.traced,
    facts: (facts) => facts,
    onProtect: () => {},
    onStatus() {},
    protect(pid) {
      guard.onProtect(pid);
      const start = startOf(pid);
      if (start === undefined) throw gone(pid);
      guard.protected.push(pid);
      if (guard.status.tier !== 4) covered.add(`${pid} ${start}`);
      const facts = look(pid);
      if (facts === undefined) throw gone(pid);
      return facts;
    },
    protectInTurns: async (pid) => guard.protect(pid),
    inspect: look,
    protectCgroup() {},
    releaseCgroup() {},
    cgroups: () => [],
    crowded: () => [],
    onCrowded() {},
    guardToken() {},
    keepTokens() {},
    guardedTokens: () => 0,
    processes: () => guard.earlier,
    onHit() {},
    close: async () => {},
  };
  return guard;
}

/** Nanoseconds since boot, to 10 ms; undefined for a process that is not there or has ended. */
export function startOf(pid: number): bigint | undefined {
  try {
    const fields = statFields(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    return fields[0] === 'Z' ? undefined : BigInt(fields[startField] ?? 0) * tick;
  } catch {
    return undefined;
  }
}

function gone(pid: number): SvcError {
  return new SvcError('PROCESS_GONE', `Process ${pid} is gone`, { nextStep: 'Start it anew.' });
}
