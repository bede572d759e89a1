import { release } from '../../../runtime/memory.ts';
import type { PartEntry } from '../../format/body-format.ts';
import {
  type Decryption,
  decryptBody,
  decryptVerifiedFrom,
  discard,
  EnvelopeError,
  nonceBytes,
  tagBytes,
} from '../../format/cipher.ts';
import type { DataKeys } from '../../keys/data-keys.ts';
import type { ResponseBody } from '../../net/http1-response-body.ts';
import type { StoredObject } from '../stored-object.ts';
import type { SpooledBody, SpoolFile } from './spool.ts';

/** One stored body: an object in one piece or a part. */
export interface SealedBody {
  /** Plaintext bytes. */
  readonly size: number;
  /** The nonce in the part list, which the stored one must match. */
  readonly nonce: Buffer | undefined;
}

export const sealedPart = ({ size, nonce }: PartEntry): SealedBody => ({
  size,
  nonce: Buffer.from(nonce, 'base64'),
});

/** A slice of a body's plaintext. */
export interface BodySlice {
  readonly skip: number;
  readonly take: number;
}

/** Hands out the DEK of a body once; the caller zeroes it. */
export type TakeKey = () => Promise<Buffer>;

/** @throws EnvelopeError `wrong-size`, or `authentication-failed` if the nonce differs from the part list's */
export async function readNonce(reader: ResponseBody, body: SealedBody): Promise<Buffer> {
  const nonce = await reader.exact(nonceBytes);
  if (nonce === undefined) throw cut();
  if (body.nonce === undefined || nonce.equals(body.nonce)) return nonce;
  throw new EnvelopeError('authentication-failed', 'a part does not begin with the nonce of its part list');
}

/** Reads the nonce and sets up the cipher, which the caller discards. The DEK is zeroed on return. */
export async function openSealed(
  reader: ResponseBody,
  body: SealedBody,
  takeKey: TakeKey,
): Promise<Decryption & { readonly nonce: Buffer }> {
  const nonce = Buffer.from(await readNonce(reader, body));
  const dek = await takeKey();
  try {
    return { nonce, ...decryptBody(dek, nonce) };
  } finally {
    dek.fill(0);
  }
}

/**
 * The next `size` stored bytes, chunk by chunk; a chunk is valid until the next is requested. @throws EnvelopeError
 * `wrong-size` for a body that ends early
 */
export async function* ciphertext(reader: ResponseBody, size: number): AsyncGenerator<Buffer, void> {
  for (let missing = size; missing > 0; ) {
    const chunk = await reader.next(missing);
    if (chunk === undefined) throw cut();
    missing -= chunk.length;
    yield chunk;
    release(chunk);
  }
}

/**
 * Decrypts the next `size` bytes, which are not authentic before `verifyTag`. The caller owns the chunks.
 * @throws EnvelopeError `wrong-size` for a body that ends early
 */
export async function* plaintext(
  reader: ResponseBody,
  decryption: Decryption,
  size: number,
): AsyncGenerator<Buffer, void> {
  reader.through((bytes) => decryption.update(bytes), size);
  for (let missing = size; missing > 0; ) {
    const chunk = await reader.next(missing);
    if (chunk === undefined) throw cut();
    missing -= chunk.length;
    yield chunk;
  }
}

/** @throws EnvelopeError `authentication-failed`, `wrong-size`. */
export async function verifyTag(reader: ResponseBody, decryption: Decryption): Promise<void> {
  const tag = await reader.exact(tagBytes);
  if (tag === undefined) throw cut();
  decryption.verify(tag);
}

/** Appends a body's ciphertext to the file while verifying it. */
export async function spoolBody(
  reader: ResponseBody,
  body: SealedBody,
  takeKey: TakeKey,
  file: SpoolFile,
): Promise<SpooledBody> {
  const decryption = await openSealed(reader, body, takeKey);
  const start = file.length;
  try {
    for await (const chunk of ciphertext(reader, body.size)) {
      release(decryption.update(chunk));
      await file.append(chunk);
    }
    await verifyTag(reader, decryption);
  } finally {
    decryption.discard();
  }
  return { file, nonce: decryption.nonce, size: body.size, start };
}

const readBytes = 128 * 1024;

/** Decrypts a slice of a spooled body. */
export async function* spooledSlice(
  { file, nonce, start = 0 }: SpooledBody,
  { skip, take }: BodySlice,
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
      const chunk = decipher.update(buffer.subarray(0, count));
      yield chunk;
      release(chunk);
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

/** The part of `chunk` that lies in the slice; `chunk` begins at `offset` of the body's plaintext. */
export function within(chunk: Buffer, offset: number, { skip, take }: BodySlice): Buffer {
  const from = Math.min(Math.max(skip - offset, 0), chunk.length);
  const to = Math.min(Math.max(skip + take - offset, from), chunk.length);
  return chunk.subarray(from, to);
}

export const cut = () => new EnvelopeError('wrong-size', 'the stored body ends before its metadata says');

/** The DEK of an object in one piece. */
export function singleKey(keys: DataKeys, object: StoredObject, signal: AbortSignal): TakeKey {
  return async () => {
    const { envelope } = object;
    if (envelope?.keys.form !== 'single') throw new TypeError('the object has no single key');
    const item = {
      wrapped: envelope.keys.dek,
      purpose: { kind: 'object', format: envelope.format },
    } as const;
    const [key] = await keys.unwrap(object.name, envelope, [item], signal);
    return key as Buffer;
  };
}
