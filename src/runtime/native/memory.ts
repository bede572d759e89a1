import { closeSync, fstatSync, statfsSync } from 'node:fs';
import { exitStatus, SvcError } from '../errors.ts';
import { callInt, memoryAt, tryInt, tryLong } from './libc.ts';

export const protection = { read: 1, readWrite: 3 } as const;
export const mapFlags = { shared: 1, privateAnonymous: 0x22 } as const;

/** Mapped memory, and the only buffer over it. */
export interface MemoryMapping {
  readonly address: bigint;
  /** Usable bytes, as requested; the mapping itself ends at a page boundary. */
  readonly length: number;
  /** @throws TypeError after `unmap` */
  readonly bytes: Buffer;
  /** Unmaps the memory. Buffers obtained before become empty instead of faulting. Repeated calls have no effect. */
  unmap(): void;
}

let knownPageSize = 0;

/** In bytes. */
export function pageSize(): number {
  knownPageSize ||= callInt('getpagesize');
  return knownPageSize;
}

export function roundToPage(length: number): number {
  return Math.max(1, Math.ceil(length / pageSize())) * pageSize();
}

/** @throws NativeError */
export function mapMemory(length: number, prot: number, flags: number, descriptor = -1): MemoryMapping {
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

/** Detaches the memory from the buffer and all its slices, so that none accesses an unmapped page. */
function detach(view: Buffer): void {
  (view.buffer as ArrayBuffer).transfer(0);
}

/** Memory for C structures that a call reads or fills: zeroed, outside V8's heap. */
export interface Scratch {
  readonly address: bigint;
  readonly bytes: Buffer;
}

const alignment = 16;
const capacity = 16 * 1024;
let memory: MemoryMapping | undefined;
let used = 0;

/** Lends `length` bytes while `use` runs; may be nested, up to 16 KiB in total. */
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

/** Memory for secrets, which are in neither swap, dumps nor V8's heap, as far as `kind` and `locked` tell. */
export interface Region {
  readonly kind: 'memfd_secret' | 'anonymous';
  readonly address: bigint;
  /** Bytes, as requested. */
  readonly length: number;
  /** The memory in place. @throws TypeError after `release` */
  readonly bytes: Buffer;
  /** The memfd_secret descriptor, close-on-exec; undefined for anonymous memory. */
  readonly descriptor: number | undefined;
  /** Whether the memory can never be swapped out. */
  readonly locked: boolean;
  /** Zeroes, unmaps and closes. Buffers obtained before become empty. Repeated calls have no effect. */
  release(): void;
  /**
   * Unmaps and closes, leaving the content to a process that inherited the descriptor. Repeated calls have no effect.
   */
  handOver(): void;
}

export interface RegionTraits {
  kind: Region['kind'];
  locked: boolean;
  descriptor: number | undefined;
}

export function regionOver(mapping: MemoryMapping, traits: RegionTraits): Region {
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

const minBytes = 4096;

/** Lends zeroed memory of any length outside V8's heap while `use` runs; small lengths take no system call. */
export function withMemory<T>(length: number, use: (memory: Scratch) => T): T {
  if (length <= minBytes) return withScratch(length, use);
  const mapping = mapMemory(length, protection.readWrite, mapFlags.privateAnonymous);
  try {
    return use(mapping);
  } finally {
    mapping.unmap();
  }
}

/** Lends a copy of the bytes to a C function. */
export function withBytes<T>(bytes: Uint8Array, use: (address: bigint) => T): T {
  return withMemory(bytes.length, (memory) => {
    memory.bytes.set(bytes);
    return use(memory.address);
  });
}

/** Lends a NUL-terminated UTF-8 copy of a text. @throws TypeError for a text with a NUL */
export function withString<T>(text: string, use: (address: bigint) => T): T {
  if (text.includes('\0')) throw new TypeError('A C string can hold no NUL');
  return withBytes(Buffer.from(`${text}\0`), use);
}

/** Copies the memory at an address, which must be mapped. */
export function copyAt(address: bigint, length: number): Buffer {
  return withMemory(length, (memory) => {
    callInt('memmove', memory.address, address, BigInt(length));
    return Buffer.from(memory.bytes);
  });
}

/** The NUL-terminated text at an address. */
export function stringAt(address: bigint): string {
  return copyAt(address, callInt('strlen', address)).toString();
}

const secretMemoryMagic = 0x5345434d;

/**
 * Maps an inherited memfd_secret descriptor read-only: writing to `bytes` ends the process. The descriptor stays open.
 * @throws SvcError NOT_SECRET_MEMORY for any other descriptor, NativeError if the mapping is refused
 */
export function mapDescriptor(descriptor: number): MemoryMapping {
  if (!isSecretMemory(descriptor)) throw notSecretMemory(descriptor);
  return mapMemory(fstatSync(descriptor).size, protection.read, mapFlags.shared, descriptor);
}

/** Whether the descriptor is open and is memfd_secret, according to the kernel rather than a forgeable file name. */
export function isSecretMemory(descriptor: number): boolean {
  if (!Number.isInteger(descriptor) || descriptor < 0) return false;
  try {
    return statfsSync(`/proc/self/fd/${descriptor}`).type === secretMemoryMagic;
  } catch {
    return false;
  }
}

function notSecretMemory(descriptor: number): SvcError {
  return new SvcError('NOT_SECRET_MEMORY', `Descriptor ${descriptor} is not secret memory`, {
    nextStep: 'Start the program under svc-wrapper, and leave SVC_SECRET_FD as the wrapper has set it.',
    exitStatus: exitStatus.system,
  });
}
