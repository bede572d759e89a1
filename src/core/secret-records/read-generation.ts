import { decodeWord, loadWord, wordLength } from './switch-word.ts';

/** The generation in force. Offsets are those of the region. */
export interface Generation {
  readonly word: bigint;
  readonly number: number;
  readonly start: number;
  /** Exclusive; the empty record that ends the generation comes before it, if there is one. */
  readonly end: number;
}

/** Where a value's bytes lie in the region; `end` is exclusive. */
export interface ValueRange {
  readonly start: number;
  readonly end: number;
}

const equals = 0x3d;
const outdatedAfter = 2;

/** The generation in force, or the whole region when it has no switch word. */
export function currentGeneration(region: Uint8Array): Generation {
  const word = loadWord(region);
  const decoded = decodeWord(word, region.length);
  if (!decoded) return { word, number: 0, start: 0, end: region.length };
  return { word, number: decoded.number, start: decoded.offset, end: region.length - wordLength };
}

/** True when the generation's bytes may have been overwritten by now: what was read since is to be read again. */
export function isOutdated(region: Uint8Array, generation: Generation): boolean {
  const word = loadWord(region);
  return word !== generation.word && Number(word >> 32n) - generation.number >= outdatedAfter;
}

/**
 * Key names and the places of their values, in the order of the records. Of a repeated key the last one counts;
 * records without a name or without "=" are passed over.
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
  const found = region.subarray(start, end).indexOf(byte);
  return found === -1 ? end : start + found;
}

/** Decoded from a copy: a decoder looks twice at memory that another process may change. */
function decodeKey(region: Uint8Array, start: number, end: number): string {
  return Buffer.from(region.subarray(start, end)).toString('utf8');
}
