import { type Encryption, encryptBody } from '../../../core/envelope/cipher.ts';
import { maxPlaintextBytes } from '../../../core/envelope/format.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { FreshKey } from '../keys/data-keys.ts';
import type { UpstreamResponse, UpstreamUpload } from '../upstream/upstream.ts';
import { ciphertextOf } from './ciphertext.ts';
import { CiphertextSpool } from './ciphertext-spool.ts';
import type { EncryptionPlan, Sealed, WriteContext } from './encryption-plan.ts';
import { sendAll } from './send-streamed.ts';
import { sendSealed } from './send-whole.ts';

/**
 * Encrypts a body of unknown length to disk, because the store wants its length
 * first, and sends it from there. Only ciphertext touches the disk.
 */
export async function sendSpooled(
  context: WriteContext,
  plan: EncryptionPlan,
  key: FreshKey,
): Promise<Sealed> {
  const target = plan.request(key);
  const spool = new CiphertextSpool(context.config.spoolDir, context.spoolSpace);
  const cipher = encryptBody(key.key);
  try {
    const size = await fill(spool, cipher, plan.source);
    const whole = spool.inMemory();
    const response = whole
      ? await sendSealed(context, target, whole)
      : await sendFile(await context.upstream.upload(target, spool.length), spool);
    return { response, nonce: cipher.nonce.toString('base64'), size };
  } finally {
    cipher.discard();
    spool.close();
  }
}

async function fill(
  spool: CiphertextSpool,
  cipher: Encryption,
  source: AsyncIterable<Buffer>,
): Promise<number> {
  let size = 0;
  await spool.append(cipher.nonce);
  for await (const chunk of source) {
    size += chunk.length;
    if (size > maxPlaintextBytes) throw s3Error('EntityTooLarge');
    for (const piece of ciphertextOf(cipher, chunk)) await spool.append(piece);
  }
  await spool.append(cipher.finish());
  return size;
}

function sendFile(upload: UpstreamUpload, spool: CiphertextSpool): Promise<UpstreamResponse> {
  return sendAll(upload, async () => {
    for await (const piece of spool.read()) await upload.write(piece);
    return upload.finish(new Uint8Array(0));
  });
}
