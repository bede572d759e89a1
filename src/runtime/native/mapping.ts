import { callInt, memoryAt, tryInt, tryLong } from './libc.ts';

export const protection = { read: 1, readWrite: 3 } as const;
export const mapFlags = { shared: 1, privateAnonymous: 0x22 } as const;

/** Mapped memory and the one buffer over it. */
export interface Mapping {
  readonly address: bigint;
  /** Bytes that can be used, as asked for; the mapping itself ends at a page. */
  readonly length: number;
  /** @throws TypeError once the memory is unmapped */
  readonly bytes: Buffer;
  /** Unmaps. Buffers taken before are empty from then on instead of faulting. Repeat calls are harmless. */
  unmap(): void;
}

let knownPageSize = 0;

/** Bytes. */
export function pageSize(): number {
  knownPageSize ||= callInt('getpagesize');
  return knownPageSize;
}

export function roundToPage(length: number): number {
  return Math.max(1, Math.ceil(length / pageSize())) * pageSize();
}

/** @throws NativeError */
export function mapMemory(length: number, prot: number, flags: number, descriptor = -1): Mapping {
  const size = BigInt(roundToPage(length));
  const address = tryLong('mmap', 0n, size, prot, flags, descriptor, 0n);
  let view: Buffer | undefined = memoryAt(address, length);
  return {
    address,
    length,
    get bytes() {
      if (view === undefined) throw new TypeError('This memory has been released');
      return view;
    },
    unmap() {
      if (view === undefined) return;
      detach(view);
      view = undefined;
      tryInt('munmap', address, size);
    },
  };
}

/** Takes the memory away from the buffer and every slice of it, so that none reaches an unmapped page. */
function detach(view: Buffer): void {
  (view.buffer as ArrayBuffer).transfer(0);
}
