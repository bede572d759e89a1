import { type MappedRange, parseRange } from '../../../runtime/native/memory-map.ts';

/** One mapping of a process. */
export interface MappedMemory extends MappedRange {
  /** Its own bytes, present or swapped out. */
  readonly heldBytes: number;
  readonly locked: boolean;
  /** Left out of core dumps. */
  readonly undumped: boolean;
}

/**
 * A line of a mapping begins with its address, those of its details with a capital letter; a text has thousands.
 * @param smaps the text of /proc/PID/smaps
 */
export function parseMappedMemory(smaps: string): MappedMemory[] {
  const mapped: MappedMemory[] = [];
  let range: MappedRange | undefined;
  let heldBytes = 0;
  for (const line of smaps.split('\n')) {
    if (!isDetail(line)) range = parseRange(line) ?? range;
    else if (line.startsWith('Anonymous:') || line.startsWith('Swap:')) heldBytes += kilobytes(line) * 1024;
    else if (line.startsWith('VmFlags:')) {
      const flags = line.split(' ');
      const traits = { heldBytes, locked: flags.includes('lo'), undumped: flags.includes('dd') };
      if (range) mapped.push({ ...range, ...traits });
      heldBytes = 0;
    }
  }
  return mapped;
}

function isDetail(line: string): boolean {
  return line >= 'A' && line < '[';
}

function kilobytes(line: string): number {
  return Number.parseInt(line.slice(line.indexOf(':') + 1), 10);
}
