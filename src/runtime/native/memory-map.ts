import { readFileSync } from 'node:fs';

/** One line of /proc/self/maps. Addresses are below 2^53. */
export interface MappedRange {
  start: number;
  end: number;
  /** Such as `rw-p`. */
  permissions: string;
  anonymous: boolean;
  /** A file, `[heap]`, `[stack]`, or empty. */
  name: string;
}

const line = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ (\d+) *(.*)$/;

export function ownMemoryMap(): MappedRange[] {
  return parseMemoryMap(readFileSync('/proc/self/maps', 'latin1'));
}

export function parseMemoryMap(text: string): MappedRange[] {
  const ranges: MappedRange[] = [];
  for (const each of text.split('\n')) {
    const range = parseRange(each);
    if (range !== undefined) ranges.push(range);
  }
  return ranges;
}

/** @returns undefined for a line that is no range, such as the details of /proc/self/smaps */
export function parseRange(text: string): MappedRange | undefined {
  const found = line.exec(text);
  if (found === null) return undefined;
  const [, start = '', end = '', permissions = '', inode, name = ''] = found;
  return {
    start: Number.parseInt(start, 16),
    end: Number.parseInt(end, 16),
    permissions,
    anonymous: inode === '0' && (name === '' || name.startsWith('[anon:')),
    name,
  };
}

/**
 * Anonymous neighbours of which at least one is executable: where V8 keeps code.
 * V8 gives pages of it back to the kernel with calls that fail on locked memory, which it takes for fatal.
 */
export function codeRuns(ranges: readonly MappedRange[]): { start: number; end: number }[] {
  return anonymousRuns(ranges)
    .filter((run) => run.some(({ permissions }) => permissions[2] === 'x'))
    .map((run) => ({ start: run[0]?.start ?? 0, end: run.at(-1)?.end ?? 0 }));
}

/** What the kernel may swap out, now or once it is used, apart from V8's code: everything but unwritable parts of files. */
export function swappable(ranges: readonly MappedRange[]): MappedRange[] {
  return outsideCode(ranges).filter(
    ({ permissions, anonymous, name }) => isOwn(permissions) && (anonymous || isData(permissions, name)),
  );
}

/** The ranges that belong to no run of code. @param ranges the whole map: a run is told by its neighbours */
export function outsideCode<T extends MappedRange>(ranges: readonly T[]): T[] {
  const code = codeRuns(ranges);
  return ranges.filter(({ start, end }) => !code.some((run) => start >= run.start && end <= run.end));
}

const isOwn = (permissions: string): boolean => permissions.endsWith('p');

const isData = (permissions: string, name: string): boolean =>
  permissions[1] === 'w' || name === '[heap]' || name.startsWith('[stack');

function anonymousRuns(ranges: readonly MappedRange[]): MappedRange[][] {
  const runs: MappedRange[][] = [];
  let previous: MappedRange | undefined;
  for (const [index, range] of ranges.entries()) {
    const joins = range.anonymous && !isOfArena(ranges, index);
    if (joins && previous?.end === range.start) runs.at(-1)?.push(range);
    else if (joins) runs.push([range]);
    previous = joins ? range : undefined;
  }
  return runs;
}

/** The rest of an arena is left out as well: it becomes writable as the arena grows. */
function isOfArena(ranges: readonly MappedRange[], index: number): boolean {
  const [before, range, after] = [ranges[index - 1], ranges[index], ranges[index + 1]];
  return [before && isMallocArena(before, range), range && isMallocArena(range, after)].includes(true);
}

const arenaSize = 64 << 20;

/**
 * glibc's memory for `malloc` on threads: writable from a multiple of 64 MB on, the rest up to the next kept without access.
 * @param next the range after it
 */
export function isMallocArena(range: MappedRange, next: MappedRange | undefined): boolean {
  const { start, end, permissions, anonymous } = range;
  if (!anonymous || permissions !== 'rw-p' || start % arenaSize !== 0) return false;
  return next?.start === end && next.end === start + arenaSize && next.permissions === '---p';
}
