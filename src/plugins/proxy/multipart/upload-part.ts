import type { IncomingHttpHeaders } from 'node:http';
import type { PartEntry } from '../../../core/envelope/manifest.ts';
import { type ObjectName, versionOfWrapped } from '../../../core/envelope/metadata.ts';
import type { Checksums } from '../../../core/s3/checksum.ts';
import { s3Error } from '../../../core/s3/error.ts';
import { requestHeadersUpstream } from '../../../core/s3/headers.ts';
import { judgePartChecksum } from '../../../core/s3/object-checksum.ts';
import type { S3Request } from '../../../core/s3/request.ts';
import { parsePartNumber } from '../../../core/s3/request-documents.ts';
import type { OperationHandler, ProxyServices } from '../context.ts';
import { encryptToStore, type WriteContext, writeAnswer } from '../write/encrypt-to-store.ts';
import type { UploadRecord } from './upload-record.ts';

/** UploadPart: encrypted under a DEK of its own and recorded before the caller gets the response. */
export const uploadPart: OperationHandler = async (services, context) => {
  const { request, payload, signal } = context;
  const target = await partTarget(services, request);
  judgePartChecksum(request.headers, target.record.checksum);
  const part = await encryptPart(services, {
    name: target.name,
    uploadId: target.record.uploadId,
    manifest: target.record.manifest,
    number: target.number,
    source: payload.chunks(target.record.checksum?.algorithm),
    length: payload.length,
    checksums: payload.checksums,
    headers: request.headers,
    signal,
  });
  context.keyVersion = versionOfWrapped(part.entry.dek);
  await recordPart(services, target, part);
  context.answer.head(200, part.answer);
  await context.answer.end();
};

/** Where a part goes. */
export interface PartTarget {
  readonly name: ObjectName;
  readonly number: number;
  readonly record: UploadRecord;
}

/**
 * @throws S3Error NoSuchUpload, InvalidArgument for a part number out of range, and
 *   OperationAborted when the upload was begun under another binding or transit key than this proxy's.
 */
export async function partTarget({ uploads, keys }: ProxyServices, request: S3Request): Promise<PartTarget> {
  const name = { bucket: request.bucket, key: request.key };
  const number = parsePartNumber(request.query.get('partNumber') ?? '');
  const record = await uploads.find(name, request.query.get('uploadId') ?? '');
  if (record.binding !== keys.scheme.binding || record.keyName !== keys.scheme.keyName)
    throw s3Error(
      'OperationAborted',
      `The upload was begun with --bind ${record.binding} and --transit-key ${record.keyName}, which this proxy does not have. Abort it and begin again.`,
    );
  return { name, number, record };
}

/** Makes the part known to whichever proxy completes the upload; to be done before its caller is answered. */
export const recordPart = (
  services: ProxyServices,
  { record }: PartTarget,
  { entry, etag, checksum, sealed }: EncryptedPart,
): Promise<void> => services.uploads.addPart(record, { part: entry, etag, checksum, sealed });

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

interface EncryptedPart {
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
