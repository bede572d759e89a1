import { frameBytes } from './framing.ts';

/** Room before the data for a chunk's header, which carries a signature. */
export const headroom = 128;

const maxFree = 16;
const free: Buffer[] = [];

/** A buffer for one frame of ciphertext; its content is whatever was there. */
export const takeFrame = (): Buffer => free.pop() ?? Buffer.allocUnsafeSlow(headroom + frameBytes);

/** To be called when nobody, the operating system included, reads from it any more. */
export function giveFrame(frame: Buffer): void {
  if (free.length < maxFree) free.push(frame);
}
