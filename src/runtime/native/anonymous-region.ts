import { callInt, tryInt } from './libc.ts';
import { mapFlags, mapMemory, protection, roundToPage } from './mapping.ts';
import { NativeError } from './native-error.ts';
import { type Region, regionOver } from './region.ts';

const dontDump = 16;

/**
 * Private memory that core dumps leave out, locked where the system permits it.
 * @throws NativeError when it cannot be mapped, or not be locked although `requireLock`
 */
export function anonymousRegion(length: number, requireLock: boolean): Region {
  const mapping = mapMemory(length, protection.readWrite, mapFlags.privateAnonymous);
  const size = BigInt(roundToPage(length));
  try {
    const locked = lock(mapping.address, size, requireLock);
    callInt('madvise', mapping.address, size, dontDump);
    return regionOver(mapping, { kind: 'anonymous', locked, descriptor: undefined });
  } catch (error) {
    mapping.unmap();
    throw error;
  }
}

function lock(address: bigint, size: bigint, required: boolean): boolean {
  try {
    tryInt('mlock', address, size);
    return true;
  } catch (error) {
    if (required || !(error instanceof NativeError)) throw error;
    return false;
  }
}
