import { type Encryption, encryptBody } from '../../../core/envelope/cipher.ts';
import { storedSize } from '../../../core/envelope/format.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { FreshKey } from '../keys/data-keys.ts';
import { AnsweredEarly } from '../upstream/failures.ts';
import type { UpstreamResponse, UpstreamUpload } from '../upstream/upstream.ts';
import { ciphertextOf } from './ciphertext.ts';
import type { EncryptionPlan, Sealed, WriteContext } from './encryption-plan.ts';

/** Encrypts while the source is read. The end goes out once the source has ended and was found right. */
export async function sendStreamed(
  { upstream }: WriteContext,
  { source, request }: EncryptionPlan,
  length: number,
  key: FreshKey,
): Promise<Sealed> {
  const upload = await upstream.upload(request(key), storedSize(length));
  const cipher = encryptBody(key.key);
  try {
    const response = await sendAll(upload, () => sendBody(upload, cipher, source, length));
    return { response, nonce: cipher.nonce.toString('base64'), size: length };
  } finally {
    cipher.discard();
  }
}

/** Runs `send`; whatever goes wrong leaves nothing in the store. A refusal that came early is the answer. */
export async function sendAll(
  upload: UpstreamUpload,
  send: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof AnsweredEarly) return upload.answer();
    upload.abort();
    throw error;
  }
}

async function sendBody(
  upload: UpstreamUpload,
  cipher: Encryption,
  source: AsyncIterable<Buffer>,
  length: number,
): Promise<UpstreamResponse> {
  let size = 0;
  await upload.write(cipher.nonce);
  for await (const chunk of source) {
    size += chunk.length;
    if (size > length) throw s3Error('IncompleteBody');
    for (const piece of ciphertextOf(cipher, chunk)) await upload.write(piece);
  }
  if (size !== length) throw s3Error('IncompleteBody');
  return upload.finish(cipher.finish());
}
