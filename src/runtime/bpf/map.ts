import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { withBytes, withMemory, withString } from '../native/c-memory.ts';
import { NativeError } from '../native/native-error.ts';
import { bpfInt, loadLibbpf } from './libbpf.ts';
import { type MapFacts, mapFacts } from './map-facts.ts';
import { isPerCpu, perCpuStride, possibleCpus } from './per-cpu.ts';

/** How `update` treats what is there. */
export const updateFlags = { any: 0n, mustBeNew: 1n, mustExist: 2n } as const;

/** An open map. Keys and values are bytes as the programs lay them out. */
export interface BpfMap {
  readonly name: string;
  readonly descriptor: number;
  readonly facts: MapFacts;
  /** @returns a copy, one value for each CPU where the map has such; undefined without an entry. @throws NativeError */
  lookup(key: Uint8Array): Buffer | undefined;
  /** @throws NativeError such as E2BIG where the map is full, EEXIST, ENOENT */
  update(key: Uint8Array, value: Uint8Array, flags?: bigint): void;
  /** @returns whether there was an entry. @throws NativeError */
  delete(key: Uint8Array): boolean;
  /**
   * Copies of all keys. A key that is deleted meanwhile can make a hash map start anew, so that some come twice;
   * `maxEntries` times two is the most that are handed out.
   * @throws NativeError
   */
  keys(): Generator<Buffer>;
}

/** A map over an open descriptor, which stays the caller's. @throws NativeError */
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

/** A pinned map, and what closes its descriptor. */
export interface PinnedMap extends BpfMap {
  close(): void;
}

/** @throws NativeError ENOENT where nothing is pinned */
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

/** Whether a call found what it looked for. */
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
