import { readFileSync } from 'node:fs';
import { memoryAt, NativeError, tryInt, tryLong } from './libc.ts';
import { pageSize, type Region, roundToPage, withScratch } from './memory.ts';
import { isMallocArena, type MappedRange, ownMemoryMap } from './process-lock.ts';
import { statFields } from './processes.ts';
import { createSecretMemory } from './secret-memory.ts';

const minLength = 12;
const minDifferentBytes = 5;
const maxAnchor = 32;
const usualWindow = 128 << 10;

/** Anchored in the middle of the secret, because freeing a block overwrites its beginning. */
interface Pattern {
  secret: Buffer;
  anchor: Buffer;
  anchorAt: number;
}

/**
 * Zeroes copies of secrets in the process's native memory, which TLS, `malloc` and stacks have left behind, even if
 * their start or end is already overwritten. V8's heap is not searched, because a value may equal a string that the
 * program needs. For the same reason, secrets are skipped that are shorter than 12 bytes, have fewer than five distinct
 * bytes, or are part of the process's own environment or arguments.
 * @param keep regions in which the secrets stay, including those of `needles`
 * @returns number of copies that were zeroed
 */
export function scrubCopies(needles: readonly Buffer[], keep: readonly Region[]): number {
  const longest = Math.max(0, ...needles.map(({ length }) => length));
  const memory = createSecretMemory({ requireMemfdSecret: false, requireLock: false });
  const regions: Region[] = [];
  const allocate = (length: number) => {
    const region = memory.allocate(length);
    regions.push(region);
    return region;
  };
  try {
    const patterns = toPatterns(needles, allocate);
    if (patterns.length === 0) return 0;
    const scrubber = new Scrubber(
      patterns,
      allocate(Math.max(usualWindow, longest * 4)),
      allocate(longest),
      longest,
    );
    const holes = [...keep, ...regions].map(toSpan);
    const parts = nativeMemory(holes).flatMap(residentParts);
    return parts.reduce((count, part) => count + scrubber.scrub(part), 0);
  } finally {
    for (const region of regions) region.release();
  }
}

function toSpan({ address, length }: Region): Span {
  return { start: Number(address), end: Number(address) + roundToPage(length) };
}

/**
 * Copies the secrets, so that a needle outside `keep` can be zeroed without changing the search. All go into one
 * region, because each region takes a descriptor, of which a process has few.
 */
function toPatterns(needles: readonly Buffer[], allocate: (length: number) => Region): Pattern[] {
  const { start, end } = givenBlock();
  const given = memoryAt(BigInt(start), end - start);
  const sought = needles.filter((needle) => needle.length >= minLength && !given.includes(needle));
  const { bytes } = allocate(sought.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  return sought
    .map((needle) => {
      const secret = bytes.subarray(at, at + needle.length);
      at += needle.copy(secret);
      return toPattern(secret);
    })
    .filter(({ anchor }) => new Set(anchor).size >= minDifferentBytes);
}

function toPattern(secret: Buffer): Pattern {
  const length = Math.min(maxAnchor, Math.max(minLength, secret.length >> 1));
  const anchorAt = (secret.length - length) >> 1;
  return { secret, anchorAt, anchor: secret.subarray(anchorAt, anchorAt + length) };
}

class Scrubber {
  private readonly patterns: readonly Pattern[];
  private readonly window: Region;
  private readonly zeros: Region;
  private readonly step: number;

  constructor(patterns: readonly Pattern[], window: Region, zeros: Region, longest: number) {
    this.patterns = patterns;
    this.window = window;
    this.zeros = zeros;
    this.step = window.length - longest;
  }

  /** Windows overlap by the longest secret; a copy belongs to the window whose first `step` bytes contain its start. */
  scrub(part: Span): number {
    let count = 0;
    for (let start = part.start; start < part.end; start += this.step) {
      const length = Math.min(this.window.length, part.end - start);
      const copied = copyMemory(BigInt(start), this.window.address, length);
      const found = this.window.bytes.subarray(0, copied);
      for (const pattern of this.patterns) count += this.scrubWindow(start, found, pattern);
    }
    return count;
  }

  private scrubWindow(start: number, found: Buffer, pattern: Pattern): number {
    const { anchor, anchorAt } = pattern;
    let count = 0;
    for (let at = found.indexOf(anchor); at !== -1; at = found.indexOf(anchor, at + anchor.length)) {
      if (at - anchorAt >= this.step) break;
      const from = at - matchingBefore(found, at, pattern);
      const to = at + anchor.length + matchingAfter(found, at, pattern);
      writeMemory(BigInt(start + from), this.zeros.address, to - from);
      count += 1;
    }
    return count;
  }
}

function matchingBefore(found: Buffer, at: number, { secret, anchorAt }: Pattern): number {
  const max = Math.min(at, anchorAt);
  let same = 0;
  while (same < max && found[at - same - 1] === secret[anchorAt - same - 1]) same += 1;
  return same;
}

function matchingAfter(found: Buffer, at: number, { secret, anchor, anchorAt }: Pattern): number {
  const max = Math.min(found.length - at, secret.length - anchorAt) - anchor.length;
  let same = 0;
  while (same < max && found[at + anchor.length + same] === secret[anchorAt + anchor.length + same])
    same += 1;
  return same;
}

/**
 * Copies memory of this process through the kernel, so that an unmapped address is an error instead of a fault.
 * @returns bytes copied; fewer than requested if the memory ends
 */
export function copyMemory(from: bigint, to: bigint, length: number): number {
  return transfer('process_vm_readv', to, from, length);
}

/** Writes memory of this process through the kernel. @returns bytes written */
function writeMemory(to: bigint, from: bigint, length: number): number {
  return transfer('process_vm_writev', from, to, length);
}

function transfer(call: string, local: bigint, remote: bigint, length: number): number {
  return withScratch(32, ({ address, bytes }) => {
    for (const [at, value] of [local, BigInt(length), remote, BigInt(length)].entries()) {
      bytes.writeBigUInt64LE(value, at * 8);
    }
    try {
      return Number(tryLong(call, process.pid, address, 1n, address + 16n, 1n, 0n));
    } catch (error) {
      if (error instanceof NativeError && error.errnoName === 'EFAULT') return 0;
      throw error;
    }
  });
}

interface Span {
  start: number;
  end: number;
}

const v8Alignment = 256 << 10;
const slicePages = 1024;

/**
 * Places where native code keeps data: the C heap, stacks, and data of libraries. Excludes V8's heap, whose mappings
 * begin at multiples of 256 KB, and the initial environment and arguments.
 * @param keep further exclusions
 */
function nativeMemory(keep: readonly Span[]): Span[] {
  const ranges = ownMemoryMap();
  const own = ranges.filter((range, index) => isNative(range, ranges[index + 1]));
  return [...keep, givenBlock()].reduce<Span[]>(
    (spans, hole) => spans.flatMap((span) => without(span, hole)),
    own,
  );
}

function isNative(range: MappedRange, next: MappedRange | undefined): boolean {
  if (range.permissions !== 'rw-p') return false;
  return !range.anonymous || range.start % v8Alignment !== 0 || isMallocArena(range, next);
}

function without({ start, end }: Span, hole: Span): Span[] {
  if (hole.end <= start || hole.start >= end) return [{ start, end }];
  const parts = [
    { start, end: hole.start },
    { start: hole.end, end },
  ];
  return parts.filter((part) => part.start < part.end);
}

/** The initial arguments and environment, adjacent on the first stack. */
function givenBlock(): Span {
  const fields = statFields(readFileSync('/proc/self/stat', 'latin1'));
  return { start: Number(fields[45]), end: Number(fields[48]) };
}

/** The resident parts of a span; the rest was never written, or is swapped out. */
function residentParts(span: Span): Span[] {
  const page = pageSize();
  const parts: Span[] = [];
  for (let start = span.start - (span.start % page); start < span.end; start += slicePages * page) {
    const pages = Math.min(slicePages, Math.ceil((span.end - start) / page));
    addResident(parts, start, pages);
  }
  return parts.map((part) => ({
    start: Math.max(part.start, span.start),
    end: Math.min(part.end, span.end),
  }));
}

function addResident(parts: Span[], start: number, pages: number): void {
  const page = pageSize();
  withScratch(pages, ({ address, bytes }) => {
    if (!isMapped(start, pages * page, address)) return;
    for (let index = 0; index < pages; index += 1) {
      if (((bytes[index] ?? 0) & 1) === 1) extend(parts, start + index * page, page);
    }
  });
}

function extend(parts: Span[], start: number, size: number): void {
  const last = parts.at(-1);
  if (last?.end === start) last.end += size;
  else parts.push({ start, end: start + size });
}

/**
 * Fills one byte for each page, whose lowest bit tells whether the page is resident. @returns false for unmapped memory
 */
function isMapped(start: number, length: number, residency: bigint): boolean {
  try {
    tryInt('mincore', BigInt(start), BigInt(length), residency);
    return true;
  } catch (error) {
    if (error instanceof NativeError) return false;
    throw error;
  }
}
