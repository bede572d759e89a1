import { createHash } from 'node:crypto';
import { EnvelopeError } from './cipher.ts';
import type { PartEntry } from './manifest.ts';
import type { ObjectName } from './metadata.ts';

/**
 * Keys of the helper objects below the reserved prefix. A part record is an
 * empty object whose key holds the record, so that listing reads all of them.
 */
export interface PartRecord {
  readonly part: PartEntry;
  /** The store's ETag of the encrypted part, unquoted. */
  readonly etag: string;
  /** CRC-32 of the encrypted part in base64, where the store was given one; its Complete wants it back. */
  readonly checksum?: string | undefined;
  /** Checksums of the plaintext, as `sealChecksums` writes them, where the caller asked for any. */
  readonly sealed?: string | undefined;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** `<prefix>uploads/<sha256 of the upload id>/` */
export const uploadPrefix = (reserved: string, uploadId: string): string =>
  `${reserved}uploads/${sha256(uploadId)}/`;
export const createRecordKey = (reserved: string, uploadId: string): string =>
  `${uploadPrefix(reserved, uploadId)}create`;
export const doneRecordKey = (reserved: string, uploadId: string): string =>
  `${uploadPrefix(reserved, uploadId)}done`;

/** `<prefix>manifests/<hash of bucket and key>/` */
export const manifestPrefix = (reserved: string, { bucket, key }: ObjectName): string =>
  `${reserved}manifests/${sha256(JSON.stringify([bucket, key]))}/`;
export const manifestKey = (reserved: string, name: ObjectName, id: string): string =>
  `${manifestPrefix(reserved, name)}${id}`;

/**
 * `…/<n>/<etag>/<checksum or ->/<nonce>/<size>/<wrapped DEK>`, each component below 255 bytes and safe in a key. With sealed
 * checksums `/1.<sealed>` follows, where 1 is the version of their form; who does not know it does not know the part.
 */
export function partRecordKey(
  reserved: string,
  uploadId: string,
  { part, etag, checksum, sealed }: PartRecord,
): string {
  const number = String(part.n).padStart(5, '0');
  const [, version, wrapped = ''] = part.dek.split(':');
  const dek = `${version}.${Buffer.from(wrapped, 'base64').toString('base64url')}`;
  const nonce = Buffer.from(part.nonce, 'base64').toString('base64url');
  const tag = Buffer.from(etag).toString('base64url');
  const sum = checksum === undefined ? '-' : Buffer.from(checksum, 'base64').toString('base64url');
  const fields = [number, tag, sum, nonce, part.size, dek, ...(sealed === undefined ? [] : [`1.${sealed}`])];
  return `${uploadPrefix(reserved, uploadId)}${fields.join('/')}`;
}

const recordPattern =
  /^(\d{5})\/([A-Za-z0-9_-]{1,250})\/(-|[A-Za-z0-9_-]{6})\/([A-Za-z0-9_-]{16})\/(\d{1,13})\/(v[1-9]\d{0,9})\.([A-Za-z0-9_-]{1,240})(?:\/1\.([A-Za-z0-9_-]{1,240}))?$/;

/** @returns the record that `key` (below `prefix`, from uploadPrefix) holds, or undefined for a key of another kind. */
export function readPartRecord(prefix: string, key: string): PartRecord | undefined {
  if (!key.startsWith(prefix))
    throw new EnvelopeError('malformed-metadata', 'a record of another upload was listed');
  const match = recordPattern.exec(key.slice(prefix.length));
  if (match === null) return undefined;
  const [, number = '', tag = '', sum = '-', nonce = '', size = '', version = '', wrapped = '', sealed] =
    match;
  const base64 = (text: string) => Buffer.from(text, 'base64url').toString('base64');
  const part = {
    n: Number(number),
    dek: `vault:${version}:${base64(wrapped)}`,
    nonce: base64(nonce),
    size: Number(size),
  };
  return {
    part,
    etag: Buffer.from(tag, 'base64url').toString(),
    ...(sum !== '-' && { checksum: base64(sum) }),
    ...(sealed !== undefined && { sealed }),
  };
}
