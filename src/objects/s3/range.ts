import { storedSize } from '../format/cipher.ts';
import { s3Error } from './error.ts';

/** `from` to `to` (inclusive; open-ended without `to`), or the last `suffix` bytes. */
export type RequestedRange = { from: number; to?: number } | { suffix: number };

export interface ResolvedRange {
  start: number;
  /** Inclusive. */
  end: number;
}

const single = /^bytes=(\d*)-(\d*)$/;
const largest = 2n ** 63n - 1n;

/**
 * A single `bytes=` range; undefined for several, malformed or no ranges, and then the whole object is sent, as in S3.
 * S3 accepts no blanks, no capitals and no numbers of more than 64 bits.
 */
export function parseRange(header: string | undefined): RequestedRange | undefined {
  const match = header === undefined ? null : single.exec(header);
  if (!match) return undefined;
  const [, from = '', to = ''] = match;
  if (exceeds(from) || exceeds(to)) return undefined;
  if (from === '') return to === '' ? undefined : { suffix: Number(to) };
  if (to === '') return { from: Number(from) };
  return Number(to) < Number(from) ? undefined : { from: Number(from), to: Number(to) };
}

function exceeds(digits: string): boolean {
  const significant = digits.replace(/^0+/, '');
  return significant.length > 19 || (significant.length === 19 && BigInt(significant) > largest);
}

/**
 * The range within `size` bytes, `whole` for a suffix of an empty object, or undefined if it cannot be satisfied (416).
 */
export function resolveRange(range: RequestedRange, size: number): ResolvedRange | 'whole' | undefined {
  if ('suffix' in range) {
    if (range.suffix === 0) return undefined;
    if (size === 0) return 'whole';
    return { start: Math.max(0, size - range.suffix), end: size - 1 };
  }
  if (range.from >= size) return undefined;
  return { start: range.from, end: Math.min(range.to ?? size - 1, size - 1) };
}

/**
 * Range of a copy: unlike for a GET, both ends must be given and lie within the source. @throws S3Error InvalidArgument
 */
export function readCopyRange(header: string): ResolvedRange {
  const [, start = '', end = ''] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header) ?? [];
  const range = { start: Number(start), end: Number(end) };
  if (start !== '' && range.start <= range.end) return range;
  throw s3Error(
    'InvalidArgument',
    'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
    { details: { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: header.slice(0, 100) } },
  );
}

/** Number of bytes to copy. @throws S3Error InvalidArgument for a range beyond the end */
export function lengthToCopy(range: ResolvedRange | undefined, size: number): number {
  if (range === undefined) return size;
  if (range.end < size) return range.end - range.start + 1;
  throw s3Error('InvalidArgument', `Range specified is not valid for source object of size: ${size}`, {
    details: { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: String(size) },
  });
}

export function contentRange({ start, end }: ResolvedRange, size: number): string {
  return `bytes ${start}-${end}/${size}`;
}

/** Content-Range of a 416 response. */
export function unsatisfiedRange(size: number): string {
  return `bytes */${size}`;
}

/** The slice of one part that a range covers. */
export interface PartSlice {
  /** Index into the list of sizes. */
  index: number;
  /** Plaintext bytes of the part before the slice. */
  skip: number;
  /** Plaintext bytes in the slice. */
  take: number;
  /** Offsets of the whole stored part in the stored object; the end is inclusive. */
  cipherStart: number;
  cipherEnd: number;
}

/**
 * The parts that cover plaintext bytes `start` to `end` (inclusive) of an object with parts of these sizes, including
 * empty parts in between. Yielded one by one, because an object has up to 10,000 parts and any number of readers.
 * @param stored maps a part's plaintext size to its stored size
 */
export function* coveringParts(
  parts: readonly { readonly size: number }[],
  { start, end }: ResolvedRange,
  stored: (size: number) => number = storedSize,
): Generator<PartSlice, void> {
  let plain = 0;
  let cipher = 0;
  for (const [index, { size }] of parts.entries()) {
    const skip = Math.max(start - plain, 0);
    const take = Math.min(end + 1 - plain, size) - skip;
    if (take > 0 || (size === 0 && plain > start))
      yield { index, skip, take, cipherStart: cipher, cipherEnd: cipher + stored(size) - 1 };
    plain += size;
    cipher += stored(size);
    if (plain > end) return;
  }
}
