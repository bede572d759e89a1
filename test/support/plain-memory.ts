import type { Region } from '../../src/runtime/native/memory.ts';
import type { SecretMemory } from '../../src/runtime/native/secret-memory.ts';

export interface PlainMemory extends SecretMemory {
  /** Regions not yet released. */
  held(): number;
  /** All bytes of the regions that were ever allocated, released ones included. */
  everything(): Buffer;
}

/** Ordinary memory that behaves as secret memory does, and counts. */
export function plainMemory(): PlainMemory {
  const all: { bytes: Buffer; released: boolean }[] = [];
  return {
    allocate(length) {
      const state = { bytes: Buffer.alloc(length), released: false };
      all.push(state);
      return regionOf(state);
    },
    held: () => all.filter(({ released }) => !released).length,
    everything: () => Buffer.concat(all.map(({ bytes }) => bytes)),
  };
}

function regionOf(state: { bytes: Buffer; released: boolean }): Region {
  return {
    kind: 'anonymous',
    address: 0n,
    length: state.bytes.length,
    descriptor: undefined,
    locked: false,
    get bytes() {
      if (state.released) throw new TypeError('This memory has been released');
      return state.bytes;
    },
    handOver() {
      state.released = true;
    },
    release() {
      state.bytes.fill(0);
      state.released = true;
    },
  };
}
