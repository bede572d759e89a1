import { createHash } from 'node:crypto';
import { bytesOfPieces } from '../../runtime/bounds/block-body.ts';
import { type JsonText, parseBounded } from '../../runtime/bounds/bounded-json.ts';
import type { PartEntry, SegmentedPart } from './body-format.ts';
import { isDerivationText, isSaltOfPart } from './body-keys.ts';
import { EnvelopeError } from './cipher.ts';
import { partListPieces, readPartList, type StoredPartList } from './manifest.ts';
import type { ObjectName } from './metadata.ts';

/**
 * The record of an uploaded part: an empty helper object whose key holds the record, so that a listing returns all
 * records of an upload.
 */
export interface PartRecord {
  readonly part: PartEntry | SegmentedPart;
  /** For a part in format 2: proves number, salt and size. */
  readonly commitment?: string | undefined;
  /** The store's ETag of the encrypted part, unquoted. */
  readonly etag: string;
  /** Base64 CRC-32 of the encrypted part, if one was sent to the store, whose Complete needs it again. */
  readonly checksum?: string | undefined;
  /** Plaintext checksums from `sealChecksums`, if the caller asked for any. */
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
 * `…/<n>/<etag>/<checksum or ->/<nonce>/<size>/<wrapped DEK>`, or in format 2 `…/<salt>/<size>/2.<commitment>`; each
 * component is shorter than 255 bytes and safe in a key. Sealed checksums follow as `/1.<sealed>`, where 1 is their
 * format version; a reader that does not know it ignores the part.
 */
export function partRecordKey(reserved: string, uploadId: string, record: PartRecord): string {
  const { part, etag, checksum, sealed } = record;
  const sum = checksum === undefined ? '-' : Buffer.from(checksum, 'base64').toString('base64url');
  const [begins, proves] = keyFields(record);
  const fields = [sum, begins, part.size, proves];
  if (sealed !== undefined) fields.push(`1.${sealed}`);
  return `${uploadPrefix(reserved, uploadId)}${partRecordId(part.n, etag)}${fields.join('/')}`;
}

/** `<n>/`: how the keys of all records of a part begin, below `uploadPrefix`. */
export const partNumberPrefix = (number: number): string => `${String(number).padStart(5, '0')}/`;

/** `<n>/<etag>/`: how the key of a part's record begins, below `uploadPrefix`. */
export const partRecordId = (number: number, etag: string): string =>
  `${partNumberPrefix(number)}${Buffer.from(etag).toString('base64url')}/`;

/** The beginning from `partRecordId` of a key below `uploadPrefix`. */
export const idOfPartRecord = (key: string): string =>
  key.slice(0, key.indexOf('/', key.indexOf('/') + 1) + 1);

function keyFields({ part, commitment }: PartRecord): readonly [begins: string, proves: string] {
  if ('salt' in part) return [part.salt, `2.${commitment}`];
  const [, version, wrapped = ''] = part.dek.split(':');
  return [
    Buffer.from(part.nonce, 'base64').toString('base64url'),
    `${version}.${Buffer.from(wrapped, 'base64').toString('base64url')}`,
  ];
}

const recordPattern =
  /^(\d{5})\/([A-Za-z0-9_-]{1,250})\/(-|[A-Za-z0-9_-]{6})\/([A-Za-z0-9_-]{16}|[A-Za-z0-9_.-]{43,122})\/(\d{1,13})\/(v[1-9]\d{0,9}|2)\.([A-Za-z0-9_-]{1,240})(?:\/1\.([A-Za-z0-9_-]{1,240}))?$/;

/** @returns the record in `key` (below `prefix`, from uploadPrefix); undefined for other keys */
export function readPartRecord(prefix: string, key: string): PartRecord | undefined {
  if (!key.startsWith(prefix))
    throw new EnvelopeError('malformed-metadata', 'a record of another upload was listed');
  const match = recordPattern.exec(key.slice(prefix.length));
  if (match === null) return undefined;
  const [, number = '', tag = '', sum = '-', begins = '', size = '', proves = '', value = '', sealed] = match;
  const base64 = (text: string) => Buffer.from(text, 'base64url').toString('base64');
  const rest = {
    etag: Buffer.from(tag, 'base64url').toString(),
    ...(sum !== '-' && { checksum: base64(sum) }),
    // a copy, because a substring would keep the whole key in memory
    ...(sealed !== undefined && { sealed: Buffer.from(sealed).toString() }),
  };
  const place = { n: Number(number), size: Number(size) };
  if (proves === '2')
    return isSaltOfPart(begins) && isDerivationText(value)
      ? { part: { ...place, salt: begins }, commitment: value, ...rest }
      : undefined;
  if (begins.length !== 16) return undefined;
  return { part: { ...place, dek: `vault:${proves}:${base64(value)}`, nonce: base64(begins) }, ...rest };
}

/** The manifest object. It includes bucket and key, so that it identifies its object by itself. */
export const manifestBytes = ({ bucket, key }: ObjectName, list: StoredPartList): Buffer =>
  bytesOfPieces(function* () {
    yield `${JSON.stringify({ v: 1, bucket, key }).slice(0, -1)},"list":`;
    yield* partListPieces(list);
    yield '}';
  });

export interface ManifestOf extends ObjectName {
  readonly list: StoredPartList;
}

/** Values and names: 10,000 parts with five members each, and what stands beside them. */
const mostOfManifest = 10_000 * 12 + 1_000;

/** @throws EnvelopeError `malformed-metadata`. */
export function parseManifest(text: JsonText): ManifestOf {
  let value: { v?: unknown; bucket?: unknown; key?: unknown; list?: unknown } | null;
  try {
    value = parseBounded(text, { maxParts: mostOfManifest, maxDepth: 10 }) as typeof value;
  } catch (cause) {
    throw new EnvelopeError('malformed-metadata', 'a manifest is not JSON', { cause });
  }
  if (value?.v !== 1 || typeof value.bucket !== 'string' || typeof value.key !== 'string')
    throw new EnvelopeError('malformed-metadata', 'a manifest does not have the form that svc writes');
  return { bucket: value.bucket, key: value.key, list: readPartList(value.list) };
}

/** @throws EnvelopeError `manifest-forged` for the manifest of another object */
export function manifestOfObject(text: JsonText, name: ObjectName): StoredPartList {
  const manifest = parseManifest(text);
  if (manifest.bucket !== name.bucket || manifest.key !== name.key)
    throw new EnvelopeError('manifest-forged', 'the manifest belongs to another object');
  return manifest.list;
}
