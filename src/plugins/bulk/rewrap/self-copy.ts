import type { IncomingHttpHeaders } from 'node:http';
import { type StoredPartList, sealMac } from '../../../objects/format/manifest.ts';
import {
  type Envelope,
  envelopeHeaders,
  type ObjectName,
  type WrappedKeys,
} from '../../../objects/format/metadata.ts';
import {
  openPartChecksums,
  openWholeChecksum,
  sealPartChecksums,
  sealWholeChecksum,
} from '../../../objects/format/sealed-checksums.ts';
import { S3Error, s3Error } from '../../../objects/s3/error.ts';
import { descriptionHeaders, maxUserMetadata, userMetadataSize } from '../../../objects/s3/headers.ts';
import { copySourceHeader } from '../../../objects/s3/request.ts';
import { type Upstream, xmlResult } from '../../../objects/upstream/upstream.ts';

const maxCopyBytes = 5 * 1024 ** 3;
const answerLimit = 256 * 1024;
const archived = new Set(['GLACIER', 'DEEP_ARCHIVE']);

/**
 * Names a property in the HEAD response that a copy of an object onto itself could lose; undefined if there is none.
 */
export function lossByCopy(headers: IncomingHttpHeaders): string | undefined {
  const storageClass = String(headers['x-amz-storage-class'] ?? '');
  const reasons: readonly (readonly [boolean, string])[] = [
    [Number(headers['content-length'] ?? Number.NaN) > maxCopyBytes, 'larger than 5 GiB'],
    [archived.has(storageClass) || headers['x-amz-archive-status'] !== undefined, 'archived'],
    [Object.keys(headers).some((name) => name.startsWith('x-amz-object-lock-')), 'locked'],
    [headers['x-amz-missing-meta'] !== undefined, 'metadata that HEAD does not show'],
    [Object.values(headers).some(Array.isArray), 'metadata that appear twice'],
  ];
  return reasons.find(([applies]) => applies)?.[1];
}

/**
 * The part list with new wrapped keys. Seal key and id stay; what the seal covers is sealed anew. In format 2 only the
 * wrapped DEK changes.
 * @returns undefined if that is impossible because a later version has written a checksum
 */
export function relistParts(
  list: StoredPartList,
  keys: Readonly<Record<string, string>>,
  sealKey: Buffer,
): StoredPartList | undefined {
  const seal = keys['seal'] as string;
  if (list.format === 2) return { ...list, seal };
  const parts = list.parts.map((part) => ({ ...part, dek: keys[part.n] as string }));
  const mac = sealMac(sealKey, list.manifest, parts);
  const whole = list.sum && openWholeChecksum(sealKey, list.mac, list.sum, parts.length);
  const ofParts = list.sums && openPartChecksums(sealKey, list.mac, list.sums, parts.length);
  if ((list.sum && !whole) || (list.sums && !ofParts)) return undefined;
  const sum = whole && { sum: sealWholeChecksum(sealKey, mac, whole) };
  const sums = ofParts && { sums: sealPartChecksums(sealKey, mac, ofParts) };
  return { ...list, parts, seal, mac, ...sum, ...sums };
}

export interface SelfCopy {
  readonly name: ObjectName;
  /** Headers of the HEAD that the copy is conditional on. */
  readonly headers: IncomingHttpHeaders;
  readonly envelope: Envelope;
  readonly keys: WrappedKeys;
  readonly keyName: string;
  readonly keyVersion: number;
}

/** The object's headers with its new keys; undefined if they do not fit. */
export function rewrappedHeaders(copy: SelfCopy): Record<string, string> | undefined {
  const { headers, envelope, keys, keyName, keyVersion } = copy;
  const kept = Object.entries(headers).filter(([name]) => isKept(name)) as [string, string][];
  const all = { ...Object.fromEntries(kept), ...envelopeHeaders({ ...envelope, keys, keyName, keyVersion }) };
  return userMetadataSize(all) <= maxUserMetadata ? all : undefined;
}

/**
 * HEAD headers that a copy request takes unchanged. `x-amz-meta-svc-…` headers that are not of the envelope are
 * ordinary metadata.
 */
const isKept = (name: string): boolean =>
  descriptionHeaders.includes(name) ||
  /^x-amz-(meta-.*|storage-class|website-redirect-location|server-side-encryption(-aws-kms-key-id|-bucket-key-enabled|-context)?)$/.test(
    name,
  );

/**
 * Has the store copy the body. The copy is conditional on source and destination still being the object of `headers`.
 * @returns false if the object was replaced
 * @throws S3Error of the store; InternalError if it named no ETag
 */
export async function copyOntoItself(
  upstream: Upstream,
  { name, headers: { etag } }: Pick<SelfCopy, 'name' | 'headers'>,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<boolean> {
  // stores ignore an empty condition
  if (!etag) throw s3Error('InternalError', 'The object store names no ETag that the copy could depend on.');
  const response = await upstream.send({
    method: 'PUT',
    ...name,
    headers: {
      ...headers,
      'x-amz-copy-source': copySourceHeader(name),
      'x-amz-copy-source-if-match': etag,
      'if-match': etag,
      'x-amz-metadata-directive': 'REPLACE',
      'x-amz-tagging-directive': 'COPY',
    },
    signal,
  });
  try {
    await xmlResult(response, { root: 'CopyObjectResult', fields: [] }, answerLimit);
    return true;
  } catch (error) {
    if (error instanceof S3Error && changed.has(error.code)) return false;
    throw error;
  }
}

const changed = new Set(['PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey']);
