import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { NativeError } from '../../../runtime/native/libc.ts';
import { withBytes, withMemory, withString } from '../../../runtime/native/memory.ts';
import { bpfInt, loadLibbpf } from './libbpf.ts';

/** How `update` treats existing entries. */
export const updateFlags = { any: 0n, mustBeNew: 1n, mustExist: 2n } as const;

/** An open map. Keys and values are bytes in the programs' layout. */
export interface BpfMap {
  readonly name: string;
  readonly descriptor: number;
  readonly facts: MapFacts;
  /** @returns a copy, with one value for each CPU in a per-CPU map; undefined without an entry. @throws NativeError */
  lookup(key: Uint8Array): Buffer | undefined;
  /** @throws NativeError such as E2BIG for a full map, EEXIST, ENOENT */
  update(key: Uint8Array, value: Uint8Array, flags?: bigint): void;
  /** @returns whether there was an entry. @throws NativeError */
  delete(key: Uint8Array): boolean;
  /**
   * Copies of all keys. Deleting a key meanwhile can restart the iteration, so that keys repeat; at most twice
   * `maxEntries` are returned.
   * @throws NativeError
   */
  keys(): Generator<Buffer>;
}

/** A map over an open descriptor, which the caller closes. @throws NativeError */
export function mapOver(name: string, descriptor: number): BpfMap {
  const facts = mapFacts(name, descriptor);
  const valueLength = isPerCpu(facts) ? perCpuStride(facts.valueSize) * possibleCpus() : facts.valueSize;
  const keyed = (key: Uint8Array) => checked(name, 'key', key, facts.keySize);
  return {
    name,
    descriptor,
    facts,
    lookup: (key) => lookup(name, descriptor, keyed(key), valueLength),
    update: (key, value, flags = updateFlags.any) =>
      update(name, descriptor, keyed(key), checked(name, 'value', value, valueLength), flags),
    delete: (key) => remove(name, descriptor, keyed(key)),
    keys: () => keys(name, descriptor, facts),
  };
}

/** A pinned map; `close` closes its descriptor. */
export interface PinnedMap extends BpfMap {
  close(): void;
}

/** @throws NativeError ENOENT if nothing is pinned */
export function openPinnedMap(path: string): PinnedMap {
  const descriptor = withString(path, (address) => bpfInt(path, 'bpf_obj_get', address));
  try {
    return { ...mapOver(path, descriptor), close: () => closeSync(descriptor) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function lookup(name: string, descriptor: number, key: Uint8Array, length: number): Buffer | undefined {
  return withMemory(length, ({ address, bytes }) =>
    withBytes(key, (from) =>
      found(name, 'bpf_map_lookup_elem', descriptor, from, address) ? Buffer.from(bytes) : undefined,
    ),
  );
}

function update(name: string, descriptor: number, key: Uint8Array, value: Uint8Array, flags: bigint): void {
  withBytes(key, (at) =>
    withBytes(value, (from) => bpfInt(name, 'bpf_map_update_elem', descriptor, at, from, flags)),
  );
}

function remove(name: string, descriptor: number, key: Uint8Array): boolean {
  return withBytes(key, (at) => found(name, 'bpf_map_delete_elem', descriptor, at));
}

function* keys(name: string, descriptor: number, facts: MapFacts): Generator<Buffer> {
  let key: Buffer | undefined;
  for (let left = facts.maxEntries * 2; left > 0; left -= 1) {
    key = nextKey(name, descriptor, key, facts.keySize);
    if (key === undefined) return;
    yield Buffer.from(key);
  }
}

function nextKey(
  name: string,
  descriptor: number,
  key: Buffer | undefined,
  size: number,
): Buffer | undefined {
  const next = (after: bigint) =>
    withMemory(size, ({ address, bytes }) =>
      found(name, 'bpf_map_get_next_key', descriptor, after, address) ? Buffer.from(bytes) : undefined,
    );
  return key === undefined ? next(0n) : withBytes(key, next);
}

/** Whether a call found an entry. */
function found(name: string, call: string, descriptor: number, ...addresses: readonly bigint[]): boolean {
  const value = loadLibbpf().int(call, descriptor, ...addresses);
  if (value === -constants.errno.ENOENT) return false;
  if (value < 0) throw new NativeError(`${call} (${name})`, -value);
  return true;
}

function checked(name: string, what: string, bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length === length) return bytes;
  throw new RangeError(`A ${what} of map ${name} has ${length} bytes, not ${bytes.length}`);
}

export interface MapFacts {
  /** As numbered in <linux/bpf.h>; see `mapType`. */
  readonly type: number;
  readonly id: number;
  /** Bytes. */
  readonly keySize: number;
  /** Bytes; in a per-CPU map, those of one CPU's value. */
  readonly valueSize: number;
  /** In a ring buffer, the bytes of its data. */
  readonly maxEntries: number;
  readonly flags: number;
}

export const mapType = {
  hash: 1,
  array: 2,
  perCpuHash: 5,
  perCpuArray: 6,
  lruHash: 9,
  lruPerCpuHash: 10,
  perCpuCgroupStorage: 21,
  ringBuffer: 27,
} as const;

/** `struct bpf_map_info` up to its flags; the kernel fills as much as fits. */
const infoLength = 24;
const lengthAt = infoLength;

/** Information from the kernel about an open map. @throws NativeError */
function mapFacts(what: string, descriptor: number): MapFacts {
  return withMemory(infoLength + 4, ({ address, bytes }) => {
    bytes.writeUInt32LE(infoLength, lengthAt);
    bpfInt(what, 'bpf_obj_get_info_by_fd', descriptor, address, address + BigInt(lengthAt));
    const [type = 0, id = 0, keySize = 0, valueSize = 0, maxEntries = 0, flags = 0] = words(bytes);
    return { type, id, keySize, valueSize, maxEntries, flags };
  });
}

const words = (bytes: Buffer): number[] =>
  Array.from({ length: infoLength / 4 }, (_, index) => bytes.readUInt32LE(index * 4));

const perCpuTypes: readonly number[] = [
  mapType.perCpuHash,
  mapType.perCpuArray,
  mapType.lruPerCpuHash,
  mapType.perCpuCgroupStorage,
];

function isPerCpu({ type }: Pick<MapFacts, 'type'>): boolean {
  return perCpuTypes.includes(type);
}

let knownCpus = 0;

/** Values per key in a per-CPU map: one for each possible CPU. */
export function possibleCpus(): number {
  knownCpus ||= bpfInt('CPUs', 'libbpf_num_possible_cpus');
  return knownCpus;
}

/** Bytes from one CPU's value to the next. */
export const perCpuStride = (valueSize: number): number => Math.ceil(valueSize / 8) * 8;

/** Splits the result of a lookup into the values of each CPU, which share its memory. */
export function perCpuValues(bytes: Buffer, valueSize: number): Buffer[] {
  const stride = perCpuStride(valueSize);
  return Array.from({ length: bytes.length / stride }, (_, cpu) =>
    bytes.subarray(cpu * stride, cpu * stride + valueSize),
  );
}

/** Sum over all CPUs of the 64-bit counter at `offset` bytes in each value. */
export function sumPerCpu(bytes: Buffer, valueSize: number, offset = 0): bigint {
  return perCpuValues(bytes, valueSize).reduce((sum, value) => sum + value.readBigUInt64LE(offset), 0n);
}

export interface MapEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

const batchSize = 4096;
const cursorLength = 8;
const noOptions = 0n;

/**
 * All entries of a hash map that is not per-CPU. Entries added or removed meanwhile may be included or not.
 * @throws NativeError
 */
export function mapEntries(map: BpfMap): MapEntry[] {
  const entries: MapEntry[] = [];
  visitEntries(map, (key, value) => entries.push({ key: Buffer.from(key), value: Buffer.from(value) }));
  return entries;
}

/**
 * Visits all entries without copies, some thousands per system call.
 * @param visit gets the same two buffers each time and must not keep them
 * @throws NativeError, and errors of `visit`
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

/** @returns whether more entries follow */
function nextBatch(name: string, descriptor: number, places: readonly bigint[]): boolean {
  const value = loadLibbpf().int('bpf_map_lookup_batch', descriptor, ...places, noOptions);
  if (value === -constants.errno.ENOENT) return false;
  if (value < 0) throw new NativeError(`bpf_map_lookup_batch (${name})`, -value);
  return true;
}
