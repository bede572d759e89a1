import { crc32 } from 'node:zlib';
import { encryptBody } from '../../../core/envelope/cipher.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import { droppedBuffers } from '../../../runtime/memory/dropped-buffers.ts';
import type { FreshKey } from '../keys/data-keys.ts';
import { checksumTrailer } from '../upstream/framing.ts';
import type { UpstreamRequest } from '../upstream/upstream.ts';
import type { EncryptionPlan, Sealed, WriteContext } from './encryption-plan.ts';

/** Bodies up to this size are checked in memory before the store hears of them. Plaintext bytes. */
export const smallBytes = 64 * 1024;

/** @throws S3Error IncompleteBody when the source does not have `length` bytes */
export async function collect(source: AsyncIterable<Buffer>, length: number): Promise<Buffer> {
  const plaintext = Buffer.allocUnsafe(length);
  let size = 0;
  for await (const chunk of source) {
    if (size + chunk.length > length) throw s3Error('IncompleteBody');
    plaintext.set(chunk, size);
    size += chunk.length;
  }
  if (size !== length) throw s3Error('IncompleteBody');
  return plaintext;
}

/** Sends a body that is held in memory. Its SHA-256 is signed, so it cannot be stored in part. */
export async function sendWhole(
  context: WriteContext,
  { request }: EncryptionPlan,
  plaintext: Buffer,
  key: FreshKey,
): Promise<Sealed> {
  const target = request(key);
  const cipher = encryptBody(key.key);
  const body = Buffer.concat([cipher.nonce, cipher.update(plaintext), cipher.finish()]);
  const response = await sendSealed(context, target, body);
  droppedBuffers(3 * body.length);
  return { response, nonce: cipher.nonce.toString('base64'), size: plaintext.length };
}

/** @param body nonce, ciphertext and tag */
export function sealedRequest(
  { config }: Pick<WriteContext, 'config'>,
  request: UpstreamRequest,
  body: Buffer,
) {
  if (config.upstreamChecksum === 'none') return request;
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return { ...request, headers: { ...request.headers, [checksumTrailer]: checksum.toString('base64') } };
}

export const sendSealed = (context: WriteContext, request: UpstreamRequest, body: Buffer) =>
  context.upstream.send(sealedRequest(context, request, body), body);
