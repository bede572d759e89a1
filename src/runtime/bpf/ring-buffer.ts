import { type Mapping, mapFlags, mapMemory, pageSize, protection } from '../native/mapping.ts';
import type { BpfMap } from './map.ts';
import { mapType } from './map-facts.ts';
import { type Ring, takeRecords } from './ring-records.ts';

/** The reading end of a map of type BPF_MAP_TYPE_RINGBUF; there is to be one only. It never waits. */
export interface RingBuffer {
  /**
   * Takes the records that are there by now, up to `most`.
   * @param take is given a view that is valid until it returns
   * @returns how many there were
   */
  drain(most: number, take: (record: Uint8Array) => void): number;
  /** Unmaps it. The map stays, with what was not taken. Repeat calls are harmless. */
  close(): void;
}

/**
 * Maps a ring into this process. The map's descriptor may be closed after that.
 * @throws TypeError for a map of another type, NativeError
 */
export function openRingBuffer({ name, descriptor, facts }: BpfMap): RingBuffer {
  if (facts.type !== mapType.ringBuffer) throw new TypeError(`Map ${name} is no ring buffer`);
  const page = pageSize();
  const own = mapMemory(page, protection.readWrite, mapFlags.shared, descriptor);
  const all = mapReadOnly(own, 2 * page + 2 * facts.maxEntries, descriptor);
  const ring = ringIn(own.bytes, all.bytes, page);
  return {
    drain: (most, take) => takeRecords(ring, most, take),
    close() {
      all.unmap();
      own.unmap();
    },
  };
}

/** The kernel lets the reader write to the first page only, and refuses a larger mapping that is writable. */
function mapReadOnly(own: Mapping, length: number, descriptor: number): Mapping {
  try {
    return mapMemory(length, protection.read, mapFlags.shared, descriptor);
  } catch (error) {
    own.unmap();
    throw error;
  }
}

/** The reader's position, the programs' position a page after it, the data a page after that. */
function ringIn(own: Buffer, all: Buffer, page: number): Ring {
  return {
    consumer: new BigUint64Array(own.buffer, own.byteOffset, 1),
    producer: new BigUint64Array(all.buffer, all.byteOffset + page, 1),
    data: all.subarray(2 * page),
  };
}
