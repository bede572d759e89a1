import type { BindingMode, ObjectName } from '../../../core/envelope/binding.ts';
import { EnvelopeError } from '../../../core/envelope/error.ts';
import { isManifestId } from '../../../core/envelope/manifest.ts';

/**
 * What is kept of an open upload, because the store does not give back the
 * metadata of one: written before Create is answered, read by every part.
 */
export interface UploadRecord extends ObjectName {
  readonly uploadId: string;
  readonly manifest: string;
  readonly keyName: string;
  readonly keyVersion: number;
  /** Wrapped seal key. */
  readonly seal: string;
  readonly binding: BindingMode;
  /** Bytes of the caller's own metadata as S3 counts them. */
  readonly userMetadata: number;
  /** Headers of Create that a later self-copy must repeat: ACL, storage class, server-side encryption. */
  readonly repeat: Readonly<Record<string, string>>;
}

export const uploadRecordText = (record: UploadRecord): string => JSON.stringify({ v: 1, ...record });

/** @throws EnvelopeError `malformed-metadata`. */
export function readUploadRecord(text: string): UploadRecord {
  const value = parse(text);
  const whole =
    value?.v === 1 &&
    isManifestId(value.manifest) &&
    [value.bucket, value.key, value.uploadId, value.keyName, value.seal].every(
      (field) => typeof field === 'string',
    ) &&
    Number.isSafeInteger(value.keyVersion) &&
    Number.isSafeInteger(value.userMetadata) &&
    ['none', 'key', 'bucket-key'].includes(String(value.binding)) &&
    isHeaders(value.repeat);
  if (!whole)
    throw new EnvelopeError(
      'malformed-metadata',
      'the record of an upload does not have the form that svc writes',
    );
  return value as unknown as UploadRecord;
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EnvelopeError('malformed-metadata', 'the record of an upload is not JSON', { cause });
  }
}

const isHeaders = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((text) => typeof text === 'string');
