import type { Encryption } from '../../../core/envelope/cipher.ts';

/** Each `update` allocates what it returns: large chunks are encrypted piece by piece. */
const pieceBytes = 256 * 1024;

export function* ciphertextOf(cipher: Encryption, plaintext: Buffer): Generator<Buffer> {
  for (let start = 0; start < plaintext.length; start += pieceBytes) {
    yield cipher.update(plaintext.subarray(start, start + pieceBytes));
  }
}
