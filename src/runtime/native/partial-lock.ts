import { lockOnFault } from './lock-on-fault.ts';
import { type MappedRange, outsideCode, ownMemoryMap } from './memory-map.ts';
import { NativeError } from './native-error.ts';
import { lockedAddressSpace } from './self.ts';

const largest = 4 << 20;

/**
 * Locks anonymous writable mappings up to 4 MB as they come into use, smallest first. The memory-lock limit counts
 * address space; `reserve` bytes of it stay free for secret regions.
 * @returns a function that locks what fits and what is new since its last call, and says whether it locked anything
 */
export function partialLock(limit: number, reserve: number): () => boolean {
  const held = new Set<string>();
  return () => {
    let room = limit - reserve - lockedAddressSpace();
    for (const range of candidates(ownMemoryMap())) {
      const size = range.end - range.start;
      const key = `${range.start}-${range.end}`;
      if (held.has(key) || size > room || !lock(range)) continue;
      held.add(key);
      room -= size;
    }
    return held.size > 0;
  };
}

function candidates(ranges: readonly MappedRange[]): MappedRange[] {
  return outsideCode(ranges)
    .filter((range) => isWritableMemory(range) && range.end - range.start <= largest)
    .sort((a, b) => a.end - a.start - (b.end - b.start));
}

function isWritableMemory({ permissions, anonymous, name }: MappedRange): boolean {
  return /^.w.p$/.test(permissions) && (anonymous || name === '[heap]' || name === '[stack]');
}

function lock(range: MappedRange): boolean {
  try {
    lockOnFault(range);
    return true;
  } catch (error) {
    if (error instanceof NativeError) return false;
    throw error;
  }
}
