import { type MappedRange, parseRange } from '../../../runtime/native/memory-map.ts';

/** One mapping of a process. */
export interface MappedMemory extends MappedRange {
  /** Its own bytes, present or swapped out. */
  readonly heldBytes: number;
  readonly locked: boolean;
  /** Left out of core dumps. */
  readonly undumped: boolean;
}

/** @param smaps the text of /proc/PID/smaps */
export function parseMappedMemory(smaps: string): MappedMemory[] {
  const mapped: MappedMemory[] = [];
  let range: MappedRange | undefined;
  let heldBytes = 0;
  for (const line of smaps.split('\n')) {
    const [, name, value = ''] = /^(Anonymous|Swap|VmFlags): +(.*?)(?: kB)?$/.exec(line) ?? [];
    if (name === undefined) range = parseRange(line) ?? range;
    else if (name !== 'VmFlags') heldBytes += Number(value) * 1024;
    else {
      const flags = value.split(' ');
      const traits = { heldBytes, locked: flags.includes('lo'), undumped: flags.includes('dd') };
      if (range) mapped.push({ ...range, ...traits });
      heldBytes = 0;
    }
  }
  return mapped;
}
