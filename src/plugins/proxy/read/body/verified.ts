import type { Decryption } from '../../../../core/envelope/cipher.ts';
import type { BlockPool } from './block-pool.ts';
import type { ByteReader } from './byte-reader.ts';
import { HeldPlaintext } from './held-plaintext.ts';
import {
  ciphertext,
  openSealed,
  type SealedBody,
  type Slice,
  type TakeKey,
  verifyTag,
  within,
} from './sealed-body.ts';
import type { Hold } from './verify-budget.ts';

/** Decrypts a body into memory and gives its slice out after it was verified. Ends the hold. */
export async function* verified(
  reader: ByteReader,
  body: SealedBody,
  slice: Slice,
  takeKey: TakeKey,
  memory: { readonly hold: Hold; readonly pool: BlockPool },
): AsyncGenerator<Buffer, void> {
  const held = new HeldPlaintext(memory.hold, memory.pool, slice.take);
  let decryption: Decryption | undefined;
  try {
    decryption = await openSealed(reader, body, takeKey);
    let offset = 0;
    for await (const chunk of ciphertext(reader, body.size)) {
      const plain = decryption.update(chunk);
      held.add(within(plain, offset, slice));
      offset += plain.length;
    }
    await verifyTag(reader, decryption);
    yield* held.drain();
  } finally {
    decryption?.discard();
    held.discard();
  }
}
