import { closeSync, ftruncateSync } from 'node:fs';
import { tryLong } from './libc.ts';
import { mapFlags, mapMemory, protection, roundToPage } from './mapping.ts';
import { type Region, regionOver } from './region.ts';

const memfdSecret = 447n;
const closeOnExec = 0o2000000n;

/** `syscall(2)`, as the C library has it. */
export type SystemCall = (number: bigint, ...args: bigint[]) => bigint;

export const systemCall: SystemCall = (number, ...args) => tryLong('syscall', number, ...args);

/**
 * Memory that the kernel has taken out of its own map; its size cannot be changed later.
 * @throws NativeError, such as ENOSYS without memfd_secret and EAGAIN above the memory-lock limit
 */
export function memfdSecretRegion(length: number, call: SystemCall): Region {
  const descriptor = Number(call(memfdSecret, closeOnExec));
  try {
    ftruncateSync(descriptor, roundToPage(length));
    const mapping = mapMemory(length, protection.readWrite, mapFlags.shared, descriptor);
    return regionOver(mapping, { kind: 'memfd_secret', locked: true, descriptor });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
