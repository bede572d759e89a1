import { decryptVerifiedFrom, discard } from '../../../../core/envelope/cipher.ts';
import { droppedBuffers } from '../../../../runtime/memory/dropped-buffers.ts';
import type { ByteReader } from '../body/byte-reader.ts';
import {
  ciphertext,
  openSealed,
  type SealedBody,
  type Slice,
  type TakeKey,
  verifyTag,
} from '../body/sealed-body.ts';
import type { SpoolFile } from './spool-file.ts';

const readBytes = 128 * 1024;

/** A body whose ciphertext lies on disk and was found authentic. */
export interface SpooledBody {
  readonly file: SpoolFile;
  readonly nonce: Buffer;
  /** Plaintext bytes, which the tag vouches for. */
  readonly size: number;
  /** Where it begins in the file, default 0. */
  readonly start?: number;
}

/** Appends a body's ciphertext to the file and verifies it on the way. */
export async function spoolBody(
  reader: ByteReader,
  body: SealedBody,
  takeKey: TakeKey,
  file: SpoolFile,
): Promise<SpooledBody> {
  const decryption = await openSealed(reader, body, takeKey);
  const start = file.length;
  try {
    for await (const chunk of ciphertext(reader, body.size)) {
      decryption.update(chunk);
      await file.append(chunk);
    }
    await verifyTag(reader, decryption);
  } finally {
    decryption.discard();
  }
  return { file, nonce: decryption.nonce, size: body.size, start };
}

/** Decrypts a slice of a spooled body. */
export async function* spooledSlice(
  { file, nonce, start = 0 }: SpooledBody,
  { skip, take }: Slice,
  takeKey: TakeKey,
): AsyncGenerator<Buffer, void> {
  const dek = await takeKey();
  const decipher = startAt(dek, nonce, skip);
  const buffer = Buffer.allocUnsafeSlow(Math.min(readBytes, take));
  try {
    for (let done = 0; done < take; ) {
      const wanted = Math.min(buffer.length, take - done);
      const count = await file.read(buffer.subarray(0, wanted), start + skip + done);
      if (count === 0) throw new Error('the spool file is shorter than what was written to it');
      yield decipher.update(buffer.subarray(0, count));
      droppedBuffers(count);
      done += count;
    }
  } finally {
    discard(decipher);
  }
}

function startAt(dek: Buffer, nonce: Buffer, offset: number) {
  try {
    return decryptVerifiedFrom(dek, nonce, offset);
  } finally {
    dek.fill(0);
  }
}
