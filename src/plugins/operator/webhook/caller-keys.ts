import { randomBytes } from 'node:crypto';
import type { CallerKeys } from '../../../core/injection/contract.ts';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** New ones, in the shape that core/injection knows again: an access key of 20 characters, a secret of 240 random bits. */
export function newCallerKeys(): CallerKeys {
  // 256 is a multiple of the 32 letters, so that each is as likely
  const id = Array.from(randomBytes(17), (byte) => letters[byte % letters.length]).join('');
  return { id: `SVC${id}`, secret: randomBytes(30).toString('base64url') };
}
