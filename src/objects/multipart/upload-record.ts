import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { parseBounded } from '../../runtime/bounds/bounded-json.ts';
import type { EnvelopeFormat } from '../format/body-format.ts';
import { EnvelopeError } from '../format/cipher.ts';
import { bodyFormat } from '../format/formats.ts';
import { isManifestId } from '../format/manifest.ts';
import type { BindingMode, ObjectName } from '../format/metadata.ts';
import type { EnvelopeChecksum } from '../format/sealed-checksums.ts';
import { checksumAlgorithms } from '../s3/checksum.ts';
import { typeOfUpload, type UploadChecksum } from '../s3/object-checksum.ts';
import type { CompletedPart } from '../s3/request-documents.ts';

/**
 * Record of an open upload, needed because the store does not return the metadata of one. Written before Create is
 * answered, read by every part.
 */
export interface UploadRecord extends ObjectName {
  /** Format of the parts and their list; absent: 1. */
  readonly format?: EnvelopeFormat;
  readonly uploadId: string;
  readonly manifest: string;
  readonly keyName: string;
  readonly keyVersion: number;
  /** Format 1: the wrapped seal key. Format 2: the wrapped DEK, from which the seal key is derived. */
  readonly seal: string;
  readonly binding: BindingMode;
  /** Bytes of the caller's own metadata, as S3 counts them. */
  readonly userMetadata: number;
  /** Headers of Create that a later self-copy must repeat: ACL, storage class, server-side encryption. */
  readonly repeat: Readonly<Record<string, string>>;
  /** Checksum to calculate for every part, so that each part has one. */
  readonly checksum?: UploadChecksum;
}

/** A record as stored; not trustworthy before `verifyUploadRecord`. */
export type StoredUploadRecord = UploadRecord & { readonly mac: string };

/**
 * The record with an HMAC under the upload's seal key, so that the store can neither edit a record nor swap two. A
 * proxy that knows only version 2 would omit part checksums, so the version keeps it out of uploads that need them.
 */
export const uploadRecordText = (record: UploadRecord, sealKey: Uint8Array): string =>
  JSON.stringify({ v: versionOf(record), ...record, mac: recordMac(record, sealKey) });

/** The checksum's algorithm and type for the object's metadata; its value is in the part list. */
export const envelopeChecksum = (begun: UploadChecksum | undefined): { checksum?: EnvelopeChecksum } =>
  begun === undefined ? {} : { checksum: { algorithm: begun.algorithm, type: typeOfUpload(begun) } };

/** The version also keeps out proxies that do not know format 2. */
function versionOf({ format, checksum }: Pick<UploadRecord, 'format' | 'checksum'>): number {
  const { plain, summed } = bodyFormat(format).recordVersion;
  return checksum === undefined ? plain : summed;
}

/** @throws EnvelopeError `record-forged` unless the record was written under this seal key and is unchanged */
export function verifyUploadRecord(
  { mac, ...record }: StoredUploadRecord,
  sealKey: Uint8Array,
): UploadRecord {
  const [expected, stored] = [recordMac(record, sealKey), mac].map((text) => Buffer.from(text, 'base64')) as [
    Buffer,
    Buffer,
  ];
  if (stored.length !== expected.length || !timingSafeEqual(stored, expected))
    throw new EnvelopeError(
      'record-forged',
      'the record of the upload is not the one that was written for it',
    );
  return record;
}

/** Base64; covers every field, with headers in the order of their names. */
function recordMac(record: UploadRecord, sealKey: Uint8Array): string {
  const { bucket, key, uploadId, manifest, keyName, keyVersion, seal, binding, userMetadata } = record;
  const { repeat, checksum } = record;
  const fields = [bucket, key, uploadId, manifest, keyName, keyVersion, seal, binding, userMetadata];
  const version = versionOf(record);
  const label = `svc/upload/${version - 1}`;
  const added = version === 2 ? [] : [checksum?.algorithm ?? null, checksum?.type ?? null];
  const headers = Object.entries(repeat).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHmac('sha256', sealKey)
    .update(`${label}\n${JSON.stringify([...fields, headers, ...added])}`)
    .digest('base64');
}

/** @throws EnvelopeError `malformed-metadata`. */
export function readUploadRecord(text: string): StoredUploadRecord {
  const { v, ...value } = parse(text, 'an upload') ?? {};
  const whole =
    v === versionOf(value as unknown as UploadRecord) &&
    (v === 4 || value['format'] === undefined) &&
    isManifestId(value['manifest']) &&
    ['bucket', 'key', 'uploadId', 'keyName', 'seal', 'mac'].every(
      (name) => typeof value[name] === 'string',
    ) &&
    Number.isSafeInteger(value['keyVersion']) &&
    Number.isSafeInteger(value['userMetadata']) &&
    ['none', 'key', 'bucket-key'].includes(String(value['binding'])) &&
    isHeaders(value['repeat']) &&
    (value['checksum'] === undefined || isChecksum(value['checksum']));
  if (!whole)
    throw new EnvelopeError(
      'malformed-metadata',
      'the record of an upload does not have the form that svc writes',
    );
  return value as unknown as StoredUploadRecord;
}

/** @param of names the record in the error message */
function parse(text: string, of: string): Record<string, unknown> | null {
  try {
    return parseBounded(text, { maxParts: 10_000, maxDepth: 3 }) as Record<string, unknown> | null;
  } catch (cause) {
    throw new EnvelopeError('malformed-metadata', `the record of ${of} is not JSON`, { cause });
  }
}

const isHeaders = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((text) => typeof text === 'string');

function isChecksum(value: unknown): boolean {
  const { algorithm, type } = (value ?? {}) as Partial<UploadChecksum>;
  return (
    checksumAlgorithms.some((known) => known === algorithm) &&
    (type === undefined || type === 'FULL_OBJECT' || type === 'COMPOSITE')
  );
}

/** Record of a completed upload: the list that completed it and the result. */
export interface DoneRecord {
  /** Of the object; undefined in records of earlier releases. */
  readonly bucket?: string | undefined;
  readonly list: string;
  /** The store's ETag of the object, quoted. */
  readonly etag: string;
  readonly versionId?: string | undefined;
}

/** @returns a hash of the part list and the object's name, so a done record never matches another object's Complete */
export function listHash({ bucket, key }: ObjectName, parts: readonly CompletedPart[]): string {
  const hash = createHash('sha256').update(JSON.stringify([bucket, key]).slice(0, -1));
  for (const { partNumber, etag } of parts) hash.update(`,${JSON.stringify([partNumber, etag])}`);
  return hash.update(']').digest('hex');
}

export const doneRecordText = ({ bucket, list, etag, versionId }: DoneRecord): string =>
  JSON.stringify({ v: 1, bucket, list, etag, versionId });

/** @throws EnvelopeError `malformed-metadata`. */
export function readDoneRecord(text: string): DoneRecord {
  const value = parse(text, 'a completed upload');
  if (value?.v !== 1 || typeof value.list !== 'string' || typeof value.etag !== 'string')
    throw new EnvelopeError(
      'malformed-metadata',
      'the record of a completed upload does not have the form that svc writes',
    );
  return {
    bucket: typeof value.bucket === 'string' ? value.bucket : undefined,
    list: value.list,
    etag: value.etag,
    versionId: typeof value.versionId === 'string' ? value.versionId : undefined,
  };
}
