import { callInt } from './libc.ts';
import { mapFlags, mapMemory, protection } from './mapping.ts';
import { type Scratch, withScratch } from './scratch.ts';

const smallest = 4096;

/** Lends zeroed memory outside V8's heap of any length for as long as `use` runs; a little of it costs no system call. */
export function withMemory<T>(length: number, use: (memory: Scratch) => T): T {
  if (length <= smallest) return withScratch(length, use);
  const mapping = mapMemory(length, protection.readWrite, mapFlags.privateAnonymous);
  try {
    return use(mapping);
  } finally {
    mapping.unmap();
  }
}

/** Lends a copy of bytes to a C function. */
export function withBytes<T>(bytes: Uint8Array, use: (address: bigint) => T): T {
  return withMemory(bytes.length, (memory) => {
    memory.bytes.set(bytes);
    return use(memory.address);
  });
}

/** Lends a NUL-terminated copy of a text, as UTF-8. @throws TypeError for a text with a NUL */
export function withString<T>(text: string, use: (address: bigint) => T): T {
  if (text.includes('\0')) throw new TypeError('A C string can hold no NUL');
  return withBytes(Buffer.from(`${text}\0`), use);
}

/** A copy of the memory at an address, which has to be mapped. */
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
