import { readFileSync } from 'node:fs';
import { tryInt } from './libc.ts';
import { pageSize } from './mapping.ts';
import { isMallocArena, type MappedRange, ownMemoryMap } from './memory-map.ts';
import { NativeError } from './native-error.ts';
import { statFields } from './process-table.ts';
import { withScratch } from './scratch.ts';

export interface Span {
  start: number;
  end: number;
}

const v8Alignment = 256 << 10;
const slicePages = 1024;

/**
 * Where native code keeps data: the C heap, stacks, the data of libraries. V8's heap is left out: its mappings
 * begin at multiples of 256 KB, and so are the environment and the arguments that the process was given.
 * @param keep what to leave out besides
 */
export function nativeMemory(keep: readonly Span[]): Span[] {
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

/** Arguments and environment as the process was given them; they lie on the first stack, one after the other. */
export function givenBlock(): Span {
  const fields = statFields(readFileSync('/proc/self/stat', 'latin1'));
  return { start: Number(fields[45]), end: Number(fields[48]) };
}

/** The parts of a span that are in memory; the others have never been written, or are swapped out. */
export function residentParts(span: Span): Span[] {
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

/** Fills a byte for each page, whose lowest bit says that it is in memory. */
function isMapped(start: number, length: number, residency: bigint): boolean {
  try {
    tryInt('mincore', BigInt(start), BigInt(length), residency);
    return true;
  } catch (error) {
    if (error instanceof NativeError) return false;
    throw error;
  }
}
