import { closeSync } from 'node:fs';
import type { Mapping } from './mapping.ts';

/** Memory for secrets: bytes that neither swap nor a dump nor V8's heap holds, as far as `kind` and `locked` say. */
export interface Region {
  readonly kind: 'memfd_secret' | 'anonymous';
  readonly address: bigint;
  /** Bytes, as asked for. */
  readonly length: number;
  /** The memory in place. @throws TypeError after `release` */
  readonly bytes: Buffer;
  /** The memfd_secret descriptor, close-on-exec; none for anonymous memory. */
  readonly descriptor: number | undefined;
  /** Whether the memory can never be swapped out. */
  readonly locked: boolean;
  /** Zeroes, unmaps, closes. Buffers taken before are empty from then on. Repeat calls are harmless. */
  release(): void;
  /** Unmaps and closes, and leaves the content to whoever has inherited the descriptor. Repeat calls are harmless. */
  handOver(): void;
}

export interface RegionTraits {
  kind: Region['kind'];
  locked: boolean;
  descriptor: number | undefined;
}

export function regionOver(mapping: Mapping, traits: RegionTraits): Region {
  let released = false;
  const end = (wipe: boolean) => {
    if (released) return;
    released = true;
    if (wipe) mapping.bytes.fill(0);
    mapping.unmap();
    if (traits.descriptor !== undefined) closeSync(traits.descriptor);
  };
  return {
    ...traits,
    address: mapping.address,
    length: mapping.length,
    get bytes() {
      return mapping.bytes;
    },
    release: () => end(true),
    handOver: () => end(traits.descriptor === undefined),
  };
}
