import type { Encryption } from '../../../core/envelope/cipher.ts';
import { droppedBuffers } from '../../../runtime/memory/dropped-buffers.ts';

/** Each `update` allocates what it returns: large chunks are encrypted piece by piece. */
const pieceBytes = 64 * 1024;

/** The ciphertext of a chunk, in pieces that are good until the next is asked for. */
export function* ciphertextOf(cipher: Encryption, plaintext: Buffer): Generator<Buffer> {
  for (let start = 0; start < plaintext.length; start += pieceBytes) {
    const piece = cipher.update(plaintext.subarray(start, start + pieceBytes));
    yield piece;
    droppedBuffers(2 * piece.length);
  }
}
