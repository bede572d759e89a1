import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from './child.ts';

const pollMs = 50;

export interface ResidentMemory {
  /** Bytes now. */
  readonly now: number;
  /** The most so far, in bytes; the sum of each process's own peak. */
  readonly peak: number;
}

/** Resident memory of a process and its descendants, from /proc. */
export function residentMemory(pid: number): ResidentMemory {
  const each = family(pid).map(statusOf);
  const sum = (pick: (memory: ResidentMemory) => number) => each.reduce((total, one) => total + pick(one), 0);
  return { now: sum(({ now }) => now), peak: sum(({ peak }) => peak) };
}

/** Follows a process until it has ended, or `isEnough`. @returns most resident memory of it and its descendants, in bytes */
export async function peakUntilEnd(
  child: Pick<Child, 'pid' | 'ended' | 'exited'>,
  isEnough: () => boolean = () => false,
): Promise<number> {
  let peak = 0;
  while (!child.ended && !isEnough()) {
    // as it ends it has none
    peak = Math.max(peak, residentMemory(child.pid).peak || 0);
    await sleep(pollMs);
  }
  if (child.ended) await child.exited;
  return peak;
}

/** The arguments of a process; one that has ended has none. */
export function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
  } catch {
    return [];
  }
}

/** svc-init and the process of its health endpoints, below a process or itself. */
export const initProcesses = (pid: number): number[] =>
  family(pid).filter((one) => commandLine(one)[0]?.endsWith('svc-init'));

/** The worker that stays below svc-init; else the process itself. */
export const residentWorker = (pid: number): number =>
  family(pid).find((one) => {
    const [file = '', ...words] = commandLine(one);
    return !file.endsWith('svc-init') && words.some((word) => word.startsWith('--svc-worker=resident'));
  }) ?? pid;

/** A process and its descendants, without those that end in this moment. */
export function family(pid: number): number[] {
  const children = childrenOf(pid);
  return children === undefined ? [] : [pid, ...children.flatMap(family)];
}

function childrenOf(pid: number): number[] | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
      const list = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
      return list.trim().split(' ').filter(Boolean).map(Number);
    });
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function statusOf(pid: number): ResidentMemory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}
