import { lastUse } from '../../runtime/memory.ts';
import { type HeldMemory, memoryCosts } from '../held-memory.ts';
import type { Admit } from './state-store.ts';

/** Helper objects of up to so many bytes, such as manifests of 170 parts, are bounded by the number of requests alone. */
export const smallText = 32 * 1024;

/**
 * Reads a helper object in its turn, since a list of 10,000 parts takes 8 MB while it is read. What the parsed form
 * takes stays held until the caller releases it.
 * @throws as HeldMemory; errors of `read` and `parse`
 */
export async function readInTurn<T>(
  read: (admit: Admit) => Promise<Buffer | undefined>,
  parse: (stored: Buffer) => T,
  held: HeldMemory,
): Promise<T | undefined> {
  let taken = 0;
  const admit = (bytes: number) => {
    const more = bytes * memoryCosts.manifestByte - taken;
    if (bytes <= smallText || more <= 0) return;
    if (!held.tryTake(more)) throw new NoRoomYet(more);
    taken += more;
  };
  for (;;)
    try {
      const stored = await read(admit);
      if (stored === undefined) return undefined;
      const spare = taken - Math.min(taken, stored.length * memoryCosts.listByte);
      const found = lastUse(stored, parse);
      held.release(spare);
      return found;
    } catch (error) {
      if (!(error instanceof NoRoomYet)) throw error;
      await held.take(error.bytes);
      taken += error.bytes;
    }
}

/** Ends the read until there is room: connections for helper objects are scarce, and must not be held while waiting. */
class NoRoomYet extends Error {
  readonly bytes: number;

  constructor(bytes: number) {
    super('there is no room for the part list yet');
    this.bytes = bytes;
  }
}
