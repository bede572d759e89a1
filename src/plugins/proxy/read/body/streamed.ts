import type { ByteReader } from './byte-reader.ts';
import {
  ciphertext,
  openSealed,
  type SealedBody,
  type Slice,
  type TakeKey,
  verifyTag,
  within,
} from './sealed-body.ts';

/** The end of what is wanted that stays here until the whole body has been verified. */
export const heldBack = 64 * 1024;

/**
 * Decrypts a body while it arrives. Bytes leave before they are verified, all
 * but the last 64 KiB of the slice; these only after the tag was found right,
 * so that a reader never gets a whole slice that was tampered with.
 */
export async function* streamed(
  reader: ByteReader,
  body: SealedBody,
  slice: Slice,
  takeKey: TakeKey,
): AsyncGenerator<Buffer, void> {
  const decryption = await openSealed(reader, body, takeKey);
  const tail = new HeldTail();
  let offset = 0;
  try {
    for await (const chunk of ciphertext(reader, body.size)) {
      const plain = decryption.update(chunk);
      const wanted = within(plain, offset, slice);
      offset += plain.length;
      if (wanted.length > 0) yield* tail.push(wanted);
    }
    await verifyTag(reader, decryption);
    yield* tail.rest();
  } finally {
    decryption.discard();
  }
}

/** Keeps the newest `heldBack` bytes. */
class HeldTail {
  #chunks: Buffer[] = [];
  #bytes = 0;

  *push(chunk: Buffer): Generator<Buffer, void> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    let first = this.#chunks[0] as Buffer;
    while (this.#bytes - first.length >= heldBack) {
      this.#chunks.shift();
      this.#bytes -= first.length;
      yield first;
      first = this.#chunks[0] as Buffer;
    }
  }

  rest(): Buffer[] {
    return this.#chunks;
  }
}
