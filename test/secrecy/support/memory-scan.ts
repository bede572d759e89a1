import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { FragmentSearch } from './fragments.ts';

/** A mapping of a process. */
export interface MappingOf {
  readonly start: number;
  readonly end: number;
  /** Such as `rw-p`. */
  readonly permissions: string;
  /** A file, `[heap]`, or empty. */
  readonly name: string;
  /** As /proc/PID/smaps has them: `dd` for what core dumps leave out, `lo` for locked. */
  readonly flags: readonly string[];
}

export interface Scan {
  /** `<secret> as <form>: <bytes> bytes in <mapping>` for every part of a secret. */
  readonly found: readonly string[];
  /** Bytes that were read. */
  readonly bytes: number;
  /** Mappings that hold something but cannot be read. */
  readonly refused: readonly MappingOf[];
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const page = 4096;
const chunk = 4 << 20;
const entry = 8;
/** A process has hundreds of mappings, most of a few pages, and Node reserves gigabytes that it never touches. */
const buffer = Buffer.alloc(chunk + page);
const table = Buffer.alloc(entry << 14);

/** Searches all memory of another process that root can read, pages that were never touched left aside. */
export function scanMemory(
  pid: number,
  search: FragmentSearch,
  include: (mapping: MappingOf) => boolean = () => true,
): Scan {
  const [memory, pages] = [openSync(`/proc/${pid}/mem`, 'r'), openSync(`/proc/${pid}/pagemap`, 'r')];
  const found: string[] = [];
  const refused: MappingOf[] = [];
  let bytes = 0;
  try {
    for (const mapping of mappingsOf(pid).filter(include)) {
      const present = presentIn(pages, mapping);
      let read = 0;
      for (const { at, content } of contentOf(memory, present)) {
        read += content.length;
        for (const { secret, form, at: offset, length } of search.in(content)) {
          const where = `${mapping.permissions} ${mapping.name || 'anonymous'} ${(at + offset).toString(16)}`;
          found.push(`${secret} as ${form}: ${length} bytes in ${where}`);
        }
      }
      bytes += read;
      if (read === 0 && present.length > 0) refused.push(mapping);
    }
  } finally {
    closeSync(memory);
    closeSync(pages);
  }
  return { found: [...new Set(found)], bytes, refused };
}

/** Chunks overlap by a page, so that nothing is cut; none for what cannot be read. */
function* contentOf(memory: number, spans: readonly Span[]): Generator<{ at: number; content: Buffer }> {
  for (const { start, end } of spans)
    for (let at = start; at < end; at += chunk) {
      const content = buffer.subarray(0, readSome(memory, buffer.subarray(0, end - at), at));
      if (content.length > 0) yield { at, content };
    }
}

/** Runs of pages that are in memory or in swap. */
function presentIn(pages: number, mapping: Span): Span[] {
  const spans: { start: number; end: number }[] = [];
  for (const at of presentPages(pages, mapping)) {
    const last = spans.at(-1);
    if (last?.end === at) last.end += page;
    else spans.push({ start: at, end: at + page });
  }
  return spans;
}

function* presentPages(pages: number, { start, end }: Span): Generator<number> {
  for (let from = start / page; from < end / page; from += table.length / entry) {
    const some = table.subarray(0, (end / page - from) * entry);
    const count = Math.floor(readSome(pages, some, from * entry) / entry);
    for (let index = 0; index < count; index++)
      if (((table[index * entry + entry - 1] as number) & 0xc0) !== 0) yield (from + index) * page;
  }
}

function readSome(file: number, into: Buffer, at: number): number {
  try {
    return readSync(file, into, 0, into.length, at);
  } catch {
    return 0;
  }
}

export function mappingsOf(pid: number): MappingOf[] {
  const texts = readFileSync(`/proc/${pid}/smaps`, 'latin1').split(/^(?=[0-9a-f]+-)/m);
  return texts.flatMap((text) => {
    const [, start, end, permissions = '', name = ''] =
      /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+ *(.*)$/m.exec(text) ?? [];
    const [, flags = ''] = /^VmFlags: (.*)$/m.exec(text) ?? [];
    if (start === undefined || end === undefined) return [];
    const span = { start: Number.parseInt(start, 16), end: Number.parseInt(end, 16) };
    return [{ ...span, permissions, name, flags: flags.trim().split(' ') }];
  });
}
