import {
  type MemoryMapping,
  mapFlags,
  mapMemory,
  pageSize,
  protection,
} from '../../../runtime/native/memory.ts';
import { type BpfMap, mapType } from './map.ts';

/** The only consumer of a map of type BPF_MAP_TYPE_RINGBUF. Never waits. */
export interface RingBuffer {
  /**
   * Consumes up to `most` available records.
   * @param take gets a view that is valid until it returns
   * @returns number of records
   */
  drain(most: number, take: (record: Uint8Array) => void): number;
  /** Unmaps the ring; the map keeps its remaining records. Repeated calls have no effect. */
  close(): void;
}

/**
 * Maps a ring into this process; the map's descriptor may then be closed.
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

/** The kernel lets a reader write only the first page, and rejects larger writable mappings. */
function mapReadOnly(own: MemoryMapping, length: number, descriptor: number): MemoryMapping {
  try {
    return mapMemory(length, protection.read, mapFlags.shared, descriptor);
  } catch (error) {
    own.unmap();
    throw error;
  }
}

/** The reader's position, one page later the programs' position, and another page later the data. */
function ringIn(own: Buffer, all: Buffer, page: number): Ring {
  return {
    consumer: new BigUint64Array(own.buffer, own.byteOffset, 1),
    producer: new BigUint64Array(all.buffer, all.byteOffset + page, 1),
    data: all.subarray(2 * page),
  };
}

/** A ring as shared by the kernel. Positions count bytes since its creation; the reader moves only its own. */
export interface Ring {
  /** Position of the reader; one element. */
  readonly consumer: BigUint64Array;
  /** Position of the programs; one element. */
  readonly producer: BigUint64Array;
  /** The data, mapped twice in a row so that a record across the end is contiguous; aligned to 8 bytes. */
  readonly data: Uint8Array;
}

/** Precedes each record: its length with two flags, and 4 bytes for the kernel. */
const headerLength = 8;
const busy = 0x8000_0000;
const discarded = 0x4000_0000;
const lengthMask = 0x3fff_ffff;

/**
 * Consumes available records in order, up to one that is still being written.
 * @param most maximum number of records
 * @param take gets a view that is valid until it returns; a record is consumed even if it throws
 * @returns number of records passed to `take`
 */
export function takeRecords(ring: Ring, most: number, take: (record: Uint8Array) => void): number {
  const start = Atomics.load(ring.consumer, 0);
  const available = Number(Atomics.load(ring.producer, 0) - start);
  const first = Number(start % BigInt(ring.data.length / 2));
  const words = new Uint32Array(ring.data.buffer, ring.data.byteOffset, ring.data.length / 4);
  let taken = 0;
  for (let done = 0; done < available && taken < most; ) {
    const at = first + done;
    // acquire, paired with the kernel's release of the record
    const header = Atomics.load(words, at / 4);
    if ((header & busy) !== 0) break;
    const length = header & lengthMask;
    done += spaceOf(length);
    try {
      if ((header & discarded) === 0) {
        taken += 1;
        take(ring.data.subarray(at + headerLength, at + headerLength + length));
      }
    } finally {
      Atomics.store(ring.consumer, 0, start + BigInt(done));
    }
  }
  return taken;
}

/** Bytes that a record takes in the ring. */
export function spaceOf(length: number): number {
  return Math.ceil((length + headerLength) / 8) * 8;
}
