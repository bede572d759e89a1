import { readFileSync, statSync } from 'node:fs';
import { softLimit, statusBytes, statusField } from '../../../core/linux/proc-text.ts';
import type { ApplicationProtection } from './protection.ts';

/**
 * Measures what protects the application, from files that name no secret (never its environment).
 * Undefined when it has ended, or where /proc hides other users' processes.
 */
export function measureApplicationProtection(pid: number): ApplicationProtection | undefined {
  try {
    return applicationProtection(pid);
  } catch {
    return undefined;
  }
}

function applicationProtection(pid: number): ApplicationProtection {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const limits = readFileSync(`/proc/${pid}/limits`, 'latin1');
  return {
    pid,
    lockedBytes: statusBytes(status, 'VmLck'),
    swappedBytes: statusBytes(status, 'VmSwap'),
    coreLimitBytes: softLimit(limits, 'Max core file size'),
    dumpable: dumpableByOwner(statSync(`/proc/${pid}/status`).uid, effectiveUser(status)),
  };
}

/** The kernel gives the files of a process that is not dumpable to root. */
export function dumpableByOwner(owner: number, effective: number): boolean | undefined {
  return effective === 0 ? undefined : owner === effective;
}

function effectiveUser(status: string): number {
  return Number(statusField(status, 'Uid')?.split('\t')[1] ?? 0);
}
