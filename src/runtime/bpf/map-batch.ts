import { constants } from 'node:os';
import { withMemory } from '../native/c-memory.ts';
import { NativeError } from '../native/native-error.ts';
import { loadLibbpf } from './libbpf.ts';
import type { BpfMap } from './map.ts';

export interface MapEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

const batchSize = 4096;
const cursorLength = 8;
const noOptions = 0n;

/**
 * All entries of a hash map without values per CPU. What is added or removed meanwhile may be there or not.
 * @throws NativeError
 */
export function mapEntries(map: BpfMap): MapEntry[] {
  const entries: MapEntry[] = [];
  visitEntries(map, (key, value) => entries.push({ key: Buffer.from(key), value: Buffer.from(value) }));
  return entries;
}

/**
 * The same without a copy of each, some thousands a system call.
 * @param visit is given the same two buffers each time; they are not to be kept
 * @throws NativeError, and what `visit` throws
 */
export function visitEntries(
  { name, descriptor, facts }: BpfMap,
  visit: (key: Buffer, value: Buffer) => void,
): void {
  const { keySize, valueSize } = facts;
  const [key, value] = [Buffer.alloc(keySize), Buffer.alloc(valueSize)];
  withMemory(cursorLength * 2 + 8 + batchSize * (keySize + valueSize), ({ address, bytes }) => {
    const at = { next: 8, count: 16, keys: 24, values: 24 + batchSize * keySize };
    for (let cursor = 0n, more = true; more; cursor = address) {
      bytes.writeUInt32LE(batchSize, at.count);
      more = nextBatch(name, descriptor, [cursor, ...addresses(address, at)]);
      bytes.copyWithin(0, at.next, at.next + cursorLength);
      for (let index = 0; index < bytes.readUInt32LE(at.count); index += 1) {
        bytes.copy(key, 0, at.keys + index * keySize, at.keys + (index + 1) * keySize);
        bytes.copy(value, 0, at.values + index * valueSize, at.values + (index + 1) * valueSize);
        visit(key, value);
      }
    }
  });
}

function addresses(
  base: bigint,
  at: { next: number; keys: number; values: number; count: number },
): bigint[] {
  return [at.next, at.keys, at.values, at.count].map((offset) => base + BigInt(offset));
}

/** @returns whether there are more */
function nextBatch(name: string, descriptor: number, places: readonly bigint[]): boolean {
  const value = loadLibbpf().int('bpf_map_lookup_batch', descriptor, ...places, noOptions);
  if (value === -constants.errno.ENOENT) return false;
  if (value < 0) throw new NativeError(`bpf_map_lookup_batch (${name})`, -value);
  return true;
}
