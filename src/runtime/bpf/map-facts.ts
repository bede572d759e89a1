import { withMemory } from '../native/c-memory.ts';
import { bpfInt } from './libbpf.ts';

export interface MapFacts {
  /** As <linux/bpf.h> numbers them; see `mapType`. */
  readonly type: number;
  readonly id: number;
  /** Bytes. */
  readonly keySize: number;
  /** Bytes; of one CPU's value in a map of values per CPU. */
  readonly valueSize: number;
  /** For a ring buffer, bytes of its data. */
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

/** `struct bpf_map_info` up to its flags; the kernel fills what there is room for. */
const infoLength = 24;
const lengthAt = infoLength;

/** What the kernel says of an open map. @throws NativeError */
export function mapFacts(what: string, descriptor: number): MapFacts {
  return withMemory(infoLength + 4, ({ address, bytes }) => {
    bytes.writeUInt32LE(infoLength, lengthAt);
    bpfInt(what, 'bpf_obj_get_info_by_fd', descriptor, address, address + BigInt(lengthAt));
    const [type = 0, id = 0, keySize = 0, valueSize = 0, maxEntries = 0, flags = 0] = words(bytes);
    return { type, id, keySize, valueSize, maxEntries, flags };
  });
}

const words = (bytes: Buffer): number[] =>
  Array.from({ length: infoLength / 4 }, (_, index) => bytes.readUInt32LE(index * 4));
