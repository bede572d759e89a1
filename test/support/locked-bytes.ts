import { readFileSync } from 'node:fs';
import { type MappedRange, parseRange } from '../../src/runtime/native/process-lock.ts';

export interface LockedBytes {
  lockedBytes: number;
  unlockedBytes: number;
}

/** What of the process's own memory (writable, private, present or swapped out) is locked and what is not, as the kernel says. */
export function measureLockedBytes(): LockedBytes {
  return countLockedBytes(readFileSync('/proc/self/smaps', 'latin1'));
}

/** @param smaps the text of /proc/self/smaps */
export function countLockedBytes(smaps: string): LockedBytes {
  const sum = { lockedBytes: 0, unlockedBytes: 0 };
  let range: MappedRange | undefined;
  let held = 0;
  for (const text of smaps.split('\n')) {
    const detail = /^(Anonymous|Swap|VmFlags): +(.*?)(?: kB)?$/.exec(text);
    if (detail === null) range = parseRange(text) ?? range;
    else if (detail[1] !== 'VmFlags') held += Number(detail[2]) * 1024;
    else {
      if (isOwn(range)) sum[isLocked(detail[2]) ? 'lockedBytes' : 'unlockedBytes'] += held;
      held = 0;
    }
  }
  return sum;
}

function isOwn(range: MappedRange | undefined): boolean {
  return range !== undefined && /^.w.p$/.test(range.permissions);
}

function isLocked(flags = ''): boolean {
  return flags.split(' ').includes('lo');
}
