/** The generation in force, with offsets in the region. */
export interface Generation {
  readonly word: bigint;
  readonly number: number;
  readonly start: number;
  /** Exclusive; the empty record that ends the generation precedes it, if there is one. */
  readonly end: number;
}

/** Offsets of a value in the region; `end` is exclusive. */
export interface ValueRange {
  readonly start: number;
  readonly end: number;
}

const equals = 0x3d;
const outdatedAfter = 2;

/** The generation in force; the whole region if it has no switch word. */
export function currentGeneration(region: Uint8Array): Generation {
  const word = loadWord(region);
  const decoded = decodeWord(word, region.length);
  if (!decoded) return { word, number: 0, start: 0, end: region.length };
  return { word, number: decoded.number, start: decoded.offset, end: region.length - wordLength };
}

/** True if the generation's bytes may have been overwritten, so that anything read must be read again. */
export function isOutdated(region: Uint8Array, generation: Generation): boolean {
  const word = loadWord(region);
  return word !== generation.word && Number(word >> 32n) - generation.number >= outdatedAfter;
}

/**
 * Key names with the offsets of their values, in record order. If a key repeats, its last value counts; records without
 * a name or "=" are skipped.
 */
export function indexRecords(region: Uint8Array, { start, end }: Generation): Map<string, ValueRange> {
  const index = new Map<string, ValueRange>();
  for (let at = start; at < end; ) {
    const stop = find(region, 0, at, end);
    if (stop === at) break;
    const sign = find(region, equals, at, stop);
    if (sign > at && sign < stop) index.set(decodeKey(region, at, sign), { start: sign + 1, end: stop });
    at = stop + 1;
  }
  return index;
}

function find(region: Uint8Array, byte: number, start: number, end: number): number {
  let at = start;
  while (at < end && region[at] !== byte) at++;
  return at;
}

/** Decodes a copy, because a decoder reads twice, and another process may change the memory in between. */
function decodeKey(region: Uint8Array, start: number, end: number): string {
  return Buffer.from(region.subarray(start, end)).toString('utf8');
}

/**
 * The switch word: the last 8 bytes of a region, a little-endian u64 that locates the generation in force. Low half:
 * its byte offset, a multiple of 8. High half: its number. 0 is the first generation, at offset 0.
 */
export interface SwitchWord {
  /** 0 to 2^32 - 1; incremented with each rotation. */
  readonly number: number;
  readonly offset: number;
}

export const wordLength = 8;

/** Loads the word atomically; 0n in a region whose size leaves no aligned word. */
export function loadWord(region: Uint8Array): bigint {
  return hasWord(region.length) ? Atomics.load(wordOf(region), 0) : 0n;
}

/** Switches to another generation by one aligned store. */
export function storeWord(region: Uint8Array, { number, offset }: SwitchWord): void {
  Atomics.store(wordOf(region), 0, (BigInt(number) << 32n) | BigInt(offset));
}

/** Undefined if the bytes cannot be a switch word, but are data of a region without one. */
function decodeWord(word: bigint, regionLength: number): SwitchWord | undefined {
  const number = Number(word >> 32n);
  const offset = Number(word & 0xffffffffn);
  const inside = hasWord(regionLength) && offset % wordLength === 0 && offset < regionLength - wordLength;
  return inside && (number > 0 || offset === 0) ? { number, offset } : undefined;
}

function hasWord(regionLength: number): boolean {
  return regionLength > wordLength && regionLength % wordLength === 0;
}

function wordOf(region: Uint8Array): BigUint64Array {
  return new BigUint64Array(region.buffer, region.byteOffset + region.length - wordLength, 1);
}

const slots = 3;

/** Minimum room for growing secrets. A region then takes 200 KiB, little compared to the usual lock limit of 8 MiB. */
const minGrowth = 64 * 1024;

/** Share of the lock limit, because the application also maps the region, and has locked memory of its own. */
const shareOfLimit = 1 / 4;

/** Bytes of each of the three slots that generations rotate through. */
export function slotSize(regionLength: number): number {
  return alignDown((regionLength - wordLength) / slots);
}

/** Offset of the generation with this number. */
export function slotOffset(number: number, regionLength: number): number {
  return (number % slots) * slotSize(regionLength);
}

export interface RegionRoom {
  /** Whether the records will be replaced in place. */
  readonly spare: boolean;
  /** Bytes that the process and its application may lock; a smaller limit leaves less room for growth. */
  readonly lockLimit?: number;
}

/**
 * Size of a region in bytes, in whole pages, for records of `length` encoded bytes. With `spare`, records can be
 * replaced in place by ones up to twice as long, or 64 KiB longer if the limit permits; without, there is only the
 * first generation.
 */
export function regionSize(
  length: number,
  { spare, lockLimit = Number.POSITIVE_INFINITY }: RegionRoom,
  pageSize: number,
): number {
  const admitted = Math.min(length + minGrowth, (lockLimit * shareOfLimit) / slots);
  const generations = spare ? slots * alignUp(Math.max(2 * length, admitted), wordLength) : length;
  return alignUp(generations + wordLength, pageSize);
}

function alignDown(length: number): number {
  return Math.max(0, Math.floor(length / wordLength) * wordLength);
}

function alignUp(length: number, multiple: number): number {
  return Math.ceil(length / multiple) * multiple;
}
