import { readFileSync } from 'node:fs';
import { cpuWithChildren } from '../support/cpu-time.ts';
import { family } from '../support/process-memory.ts';

/** Less than this between two looks is what a program does that only waits. */
const LEAST_CPU_MS = 50;
const LEAST_BYTES = 4_096;

interface Work {
  readonly cpuMs: number;
  /** Read and written, sockets and pipes included. */
  readonly bytes: number;
}

export interface IdleWatch {
  /** Tells that the process has just done something. */
  active(): void;
  stop(): void;
}

/**
 * Calls `onIdle` once when a process and its descendants have had neither processor time nor anything to read or write
 * for that long, however long they take.
 */
export function whenIdle(pid: number | undefined, maxIdleMs: number, onIdle: () => void): IdleWatch {
  let seen = workOf(pid);
  let since = performance.now();
  const active = () => {
    since = performance.now();
  };
  const look = () => {
    const now = workOf(pid);
    if (isMore(seen, now)) {
      seen = now;
      active();
    }
    if (performance.now() - since < maxIdleMs) return;
    clearInterval(timer);
    onIdle();
  };
  const timer = setInterval(look, Math.min(maxIdleMs / 4, 10_000));
  return { active, stop: () => clearInterval(timer) };
}

/** Kills a process and its descendants. */
export function endFamily(pid: number | undefined): void {
  if (pid === undefined) return;
  for (const one of family(pid)) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // it has ended by itself
    }
  }
}

/** Descendants come and go, and take what they have done with them: any change of the sums is work. */
function isMore(before: Work, now: Work): boolean {
  const changed = (key: keyof Work) => Math.abs(now[key] - before[key]);
  return changed('cpuMs') >= LEAST_CPU_MS || changed('bytes') >= LEAST_BYTES;
}

function workOf(pid: number | undefined): Work {
  const works = pid === undefined || process.platform !== 'linux' ? [] : family(pid).map(workOfOne);
  const sum = (key: keyof Work) => works.reduce((total, work) => total + work[key], 0);
  return { cpuMs: sum('cpuMs'), bytes: sum('bytes') };
}

function workOfOne(pid: number): Work {
  try {
    const io = readFileSync(`/proc/${pid}/io`, 'latin1');
    const bytes = [...io.matchAll(/^[rw]char: (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
    return { cpuMs: cpuWithChildren(pid), bytes };
  } catch {
    // it has just ended, or is another user's
    return { cpuMs: 0, bytes: 0 };
  }
}
