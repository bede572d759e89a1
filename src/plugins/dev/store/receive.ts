import { createHash } from 'node:crypto';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { Payload } from '../../../core/s3/received-payload.ts';
import type { BlobRef } from './model.ts';
import type { SharedBlobs } from './shared-blobs.ts';

export interface Received {
  /** Undefined when the body is empty. */
  readonly blob: BlobRef | undefined;
  /** Hexadecimal. */
  readonly md5: string;
}

/**
 * Takes a body in whole and hands it to `use`, which takes its own share; what is not used is removed.
 * A body that was cut or is not what its head announced leaves nothing. @throws S3Error
 */
export async function receive(
  blobs: SharedBlobs,
  payload: Payload,
  use: (received: Received) => void,
): Promise<void> {
  if (payload.length === undefined) throw s3Error('MissingContentLength');
  const received = await write(blobs, payload);
  const content = received.blob ? [received.blob] : [];
  blobs.retain(content);
  try {
    use(received);
  } finally {
    blobs.release(content);
  }
}

async function write(blobs: SharedBlobs, payload: Payload): Promise<Received> {
  const md5 = createHash('md5');
  const writer = await blobs.create();
  let size = 0;
  try {
    for await (const chunk of payload.chunks()) {
      md5.update(chunk);
      size += chunk.length;
      await writer.write(chunk);
    }
  } catch (error) {
    await writer.discard();
    throw error;
  }
  if (size === 0) await writer.discard();
  return { blob: size === 0 ? undefined : await writer.commit(), md5: md5.digest('hex') };
}
