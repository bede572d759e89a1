import type { IncomingHttpHeaders } from 'node:http';
import type { ObjectName } from '../../../core/envelope/binding.ts';
import type { PartEntry } from '../../../core/envelope/manifest.ts';
import type { Checksums } from '../../../core/s3/checksum.ts';
import { requestHeadersUpstream } from '../../../core/s3/headers.ts';
import { encryptToStore } from './encrypt-to-store.ts';
import type { WriteContext } from './encryption-plan.ts';
import { writeAnswer } from './write-answer.ts';

export interface PartPlan {
  readonly name: ObjectName;
  readonly uploadId: string;
  /** The manifest id that the part's key is bound to. */
  readonly manifest: string;
  readonly number: number;
  readonly source: AsyncIterable<Buffer>;
  /** Plaintext bytes; undefined when only the end of `source` will tell. */
  readonly length: number | undefined;
  /** Of the plaintext, to be kept in the part's record; asked for once `source` has ended. */
  readonly checksums: () => Checksums;
  /** The caller's; those that a part may have are passed on. */
  readonly headers: IncomingHttpHeaders;
  readonly signal?: AbortSignal;
}

export interface EncryptedPart {
  readonly entry: PartEntry;
  /** The store's, unquoted. */
  readonly etag: string;
  /** The store's CRC-32 of the encrypted part, in base64. */
  readonly checksum: string | undefined;
  /** Checksums of the plaintext, sealed under the part's DEK. */
  readonly sealed: string | undefined;
  /** Headers of the answer to the caller, the ETag included. */
  readonly answer: Readonly<Record<string, string>>;
}

/** Encrypts one part under a DEK of its own. @throws as `encryptToStore` */
export async function encryptPart(context: WriteContext, plan: PartPlan): Promise<EncryptedPart> {
  const { name, uploadId, manifest, number, source, length, checksums, signal } = plan;
  const stored = await encryptToStore(context, {
    name,
    purpose: { kind: 'part', upload: manifest, number },
    source,
    length,
    checksums,
    signal,
    request: () => ({
      method: 'PUT',
      ...name,
      query: [
        ['partNumber', String(number)],
        ['uploadId', uploadId],
      ],
      headers: requestHeadersUpstream(plan.headers),
      ...(signal && { signal }),
    }),
  });
  const { dek, nonce, size, etag, headers, sealed } = stored;
  const checksum = headers['x-amz-checksum-crc32'] as string | undefined;
  return { entry: { n: number, dek, nonce, size }, etag, checksum, sealed, answer: writeAnswer(stored) };
}
