import { type Mapping, mapFlags, mapMemory, protection } from './mapping.ts';

/** Memory for C structures that a call reads or fills: zeroed, outside V8's heap. */
export interface Scratch {
  readonly address: bigint;
  readonly bytes: Buffer;
}

const alignment = 16;
const capacity = 16 * 1024;
let memory: Mapping | undefined;
let used = 0;

/** Lends `length` bytes for as long as `use` runs; it may be nested, up to 16 KiB in all. */
export function withScratch<T>(length: number, use: (scratch: Scratch) => T): T {
  memory ??= mapMemory(capacity, protection.readWrite, mapFlags.privateAnonymous);
  const from = used;
  const to = from + Math.ceil(length / alignment) * alignment;
  if (to > memory.length) throw new RangeError(`${length} bytes of scratch memory are too many`);
  used = to;
  try {
    const bytes = memory.bytes.subarray(from, from + length).fill(0);
    return use({ address: memory.address + BigInt(from), bytes });
  } finally {
    used = from;
  }
}
