import type { IncomingHttpHeaders } from 'node:http';
import type { ObjectServices, OperationHandler } from '../context.ts';
import type { PartEntry, SegmentedPart } from '../format/body-format.ts';
import { type ObjectName, versionOfWrapped } from '../format/metadata.ts';
import type { Checksums } from '../s3/checksum.ts';
import { s3Error } from '../s3/error.ts';
import { requestHeadersUpstream } from '../s3/headers.ts';
import { judgePartChecksum } from '../s3/object-checksum.ts';
import type { S3Request } from '../s3/request.ts';
import { parsePartNumber } from '../s3/request-documents.ts';
import { encryptToStore, writeAnswer } from '../write/encrypt-to-store.ts';
import type { EncryptionPlan, WriteContext } from '../write/seal-and-send.ts';
import type { UploadKeys } from './upload-keys.ts';
import type { UploadRecord } from './upload-record.ts';

/** UploadPart. The part is encrypted under its own key and recorded before the caller gets a response. */
export const uploadPart: OperationHandler = async (services, context) => {
  const { request, payload, signal } = context;
  const target = await partTarget(services, request);
  judgePartChecksum(request.headers, target.record.checksum);
  const part = await encryptPart(services, {
    record: target.record,
    number: target.number,
    source: payload.chunks(target.record.checksum?.algorithm),
    length: payload.length,
    checksums: payload.checksums,
    headers: request.headers,
    signal,
  });
  context.keyVersion = versionOfWrapped(part.wrapped);
  await recordPart(services, target, part);
  context.answer.head(200, part.answer);
  await context.answer.end();
};

/** The upload and number that a part is written to. */
export interface PartTarget {
  readonly name: ObjectName;
  readonly number: number;
  readonly record: UploadRecord;
}

/**
 * @throws S3Error NoSuchUpload, InvalidArgument for a part number out of range, OperationAborted if the upload was
 *   created under another binding or transit key than this proxy's, and InvalidRequest if it has too many records
 */
export async function partTarget({ uploads, keys }: ObjectServices, request: S3Request): Promise<PartTarget> {
  const name = { bucket: request.bucket, key: request.key };
  const number = parsePartNumber(request.query.get('partNumber') ?? '');
  const record = await uploads.find(name, request.query.get('uploadId') ?? '');
  if (record.binding !== keys.scheme.binding || record.keyName !== keys.scheme.keyName)
    throw s3Error(
      'OperationAborted',
      `The upload was begun with --bind ${record.binding} and --transit-key ${record.keyName}, which this proxy does not have. Abort it and begin again.`,
    );
  await uploads.parts.admit(record);
  return { name, number, record };
}

/** Makes the part known to whichever proxy completes the upload; call it before the caller gets a response. */
export const recordPart = (
  services: ObjectServices,
  { record }: PartTarget,
  { entry, commitment, etag, checksum, sealed }: Omit<EncryptedPart, 'wrapped' | 'answer'>,
): Promise<void> => services.uploads.parts.add(record, { part: entry, commitment, etag, checksum, sealed });

export interface PartPlan {
  readonly record: UploadRecord;
  readonly number: number;
  readonly source: AsyncIterable<Buffer>;
  /** Plaintext bytes; undefined when only the end of `source` will tell. */
  readonly length: number | undefined;
  /** Plaintext checksums for the part's record; called once `source` has ended. */
  readonly checksums: () => Checksums;
  /** The caller's headers; those that apply to a part are forwarded. */
  readonly headers: IncomingHttpHeaders;
  readonly signal?: AbortSignal;
}

export interface EncryptedPart {
  readonly entry: PartEntry | SegmentedPart;
  /** Only in format 2. */
  readonly commitment: string | undefined;
  /** The wrapped DEK, of the part or of its upload. */
  readonly wrapped: string;
  /** The store's ETag, unquoted. */
  readonly etag: string;
  /** The store's CRC-32 of the encrypted part, in base64. */
  readonly checksum: string | undefined;
  /** Checksums of the plaintext, as `sealChecksums` writes them. */
  readonly sealed: string | undefined;
  /** Headers of the answer to the caller, the ETag included. */
  readonly answer: Readonly<Record<string, string>>;
}

type PartContext = WriteContext & { readonly uploadKeys: Pick<UploadKeys, 'dek'> };

/**
 * Encrypts one part: in format 1 under its own DEK, in format 2 under a key derived from the upload's. @throws as
 * `encryptToStore`
 */
export async function encryptPart(context: PartContext, plan: PartPlan): Promise<EncryptedPart> {
  const { record, number, source, length, checksums, signal } = plan;
  const { bucket, key } = record;
  const stored = await encryptToStore(context, {
    name: { bucket, key },
    ...keyOf(context, plan),
    source,
    length,
    checksums,
    signal,
    request: () => ({
      method: 'PUT',
      bucket,
      key,
      query: partQuery(record, number),
      headers: requestHeadersUpstream(plan.headers),
      ...(signal && { signal }),
    }),
  });
  const { dek, etag, headers, sealed } = stored;
  const checksum = headers['x-amz-checksum-crc32'] as string | undefined;
  const part = stored.format.partOf({ n: number, size: stored.size, dek }, stored.proof);
  return { ...part, wrapped: dek, etag, checksum, sealed, answer: writeAnswer(stored) };
}

/** Query of a request that writes a part. */
export const partQuery = ({ uploadId }: PartPlan['record'], number: number): [string, string][] => [
  ['partNumber', String(number)],
  ['uploadId', uploadId],
];

function keyOf(
  { uploadKeys }: PartContext,
  { record, number, signal }: PartPlan,
): Pick<EncryptionPlan, 'purpose' | 'ofUpload'> {
  const { format, manifest: upload, seal, keyVersion } = record;
  if (format !== 2) return { purpose: { kind: 'part', upload, number } };
  const key = async () => ({ key: await uploadKeys.dek(record, signal), ciphertext: seal, keyVersion });
  return { purpose: { kind: 'seal', upload, format }, ofUpload: { number, key } };
}
