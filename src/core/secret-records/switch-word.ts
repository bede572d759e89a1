/**
 * The switch word: the last 8 bytes of a region, a little-endian u64 that says where the generation in force begins.
 * Low half: its byte offset, a multiple of 8. High half: its number. 0 is the first generation, at offset 0.
 */
export interface SwitchWord {
  /** 0 to 2^32 - 1, one more with each rotation. */
  readonly number: number;
  readonly offset: number;
}

export const wordLength = 8;

/** The word as it stands in memory, read at once; 0n in a region whose size leaves no aligned word. */
export function loadWord(region: Uint8Array): bigint {
  return hasWord(region.length) ? Atomics.load(wordOf(region), 0) : 0n;
}

/** Makes another generation the one in force, by one aligned store. */
export function storeWord(region: Uint8Array, { number, offset }: SwitchWord): void {
  Atomics.store(wordOf(region), 0, (BigInt(number) << 32n) | BigInt(offset));
}

/** Undefined when the bytes cannot be a switch word, and are data of a region without one. */
export function decodeWord(word: bigint, regionLength: number): SwitchWord | undefined {
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
