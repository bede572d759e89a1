import { SvcError } from '../../core/errors.ts';
import { callInt } from './libc.ts';
import { withScratch } from './scratch.ts';

const pollOut = 4;
const pollHangUp = 16;
const structLength = 8;
const eventsAt = 4;
const resultAt = 6;

/**
 * Whether a write of a page at most comes back at once, if only with a failure. Another writer may fill the pipe in
 * between. True where there are no native calls to ask by.
 */
export function canWrite(descriptor: number): boolean {
  try {
    return withScratch(structLength, ({ address, bytes }) => {
      bytes.writeInt32LE(descriptor);
      bytes.writeInt16LE(pollOut, eventsAt);
      return callInt('poll', address, 1n, 0) === 1 && bytes.readInt16LE(resultAt) !== 0;
    });
  } catch (error) {
    if (error instanceof SvcError) return true;
    throw error;
  }
}

/** Whether the other end of a connection was closed as a whole, though what it has sent may still be there to read. */
export function hasHungUp(descriptor: number): boolean {
  return withScratch(structLength, ({ address, bytes }) => {
    bytes.writeInt32LE(descriptor);
    bytes.writeInt16LE(0, eventsAt);
    return callInt('poll', address, 1n, 0) === 1 && (bytes.readInt16LE(resultAt) & pollHangUp) !== 0;
  });
}
