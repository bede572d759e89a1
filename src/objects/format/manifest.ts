import { createHmac, timingSafeEqual } from 'node:crypto';
import type { BodyFormat, EnvelopeFormat, PartEntry, SegmentedPart } from './body-format.ts';
import { EnvelopeError } from './cipher.ts';
import { isWrappedKey } from './format-1.ts';
import { bodyFormat, formatField } from './formats.ts';

interface ListOf<Part> {
  /** Id of the upload, which its keys are bound to. */
  readonly manifest: string;
  readonly parts: readonly Part[];
  /** Format 1: the wrapped seal key. Format 2: the wrapped DEK, from which the seal key is derived. */
  readonly seal: string;
  /** HMAC-SHA-256 under the seal key, base64. */
  readonly mac: string;
  /** Checksum of the whole object from `sealWholeChecksum`, if there is one. */
  readonly sum?: string;
  /** Checksums of the parts from `sealPartChecksums`, if every part has one. */
  readonly sums?: string;
}

/** The parts of an object, with proof that they are complete and in order. */
export interface PartList extends ListOf<PartEntry> {
  readonly format?: 1;
}

/** A part list in format 2. */
export interface SegmentedPartList extends ListOf<SegmentedPart> {
  readonly format: 2;
}

export type StoredPartList = PartList | SegmentedPartList;

const maxParts = 10_000;

/** @returns plaintext bytes of all parts */
export const plaintextListSize = ({ parts }: StoredPartList): number =>
  parts.reduce((sum: number, { size }) => sum + size, 0);

/** @returns stored bytes of all parts */
export function storedListSize({ format, parts }: StoredPartList): number {
  const { storedSize } = bodyFormat(format);
  return parts.reduce((sum: number, { size }) => sum + storedSize(size), 0);
}

/** @returns base64 HMAC over the upload and every field of every part, in order */
export function sealMac(
  sealKey: Uint8Array,
  manifest: string,
  parts: StoredPartList['parts'],
  format?: EnvelopeFormat,
): string {
  const { id, partProof } = bodyFormat(format);
  const mac = createHmac('sha256', sealKey);
  mac.update(`svc/${id}\n${manifest}\n${parts.length}\n`);
  for (const part of parts) mac.update(`${part.n} ${part.size} ${partProof(part)}\n`);
  return mac.digest('base64');
}

/** @throws EnvelopeError `manifest-forged` if parts were dropped, repeated, reordered or edited */
export function verifySeal(sealKey: Uint8Array, list: StoredPartList): void {
  const expected = Buffer.from(sealMac(sealKey, list.manifest, list.parts, list.format), 'base64');
  const stored = Buffer.from(list.mac, 'base64');
  if (stored.length !== expected.length || !timingSafeEqual(stored, expected))
    throw new EnvelopeError('manifest-forged', 'the seal over the part list does not match');
}

/** JSON for the inline form and the manifest's `list`, with fields in fixed order. */
export const serializePartList = (list: StoredPartList): string => [...partListPieces(list)].join('');

/** Parts serialized at a time: as one string, 10,000 would be megabytes that V8 keeps for long. */
const partsAtOnce = 100;

/** `serializePartList` in pieces. */
export function* partListPieces(list: StoredPartList): Generator<string, void> {
  const { format, manifest, parts, seal, mac, sum, sums } = list;
  const { id, partFields } = bodyFormat(format);
  yield `${JSON.stringify({ v: id, manifest }).slice(0, -1)},"parts":[`;
  for (let from = 0; from < parts.length; from += partsAtOnce) {
    const some = parts.slice(from, from + partsAtOnce).map(partFields);
    yield (from === 0 ? '' : ',') + JSON.stringify(some).slice(1, -1);
  }
  yield `],${JSON.stringify({ seal, mac, sum, sums }).slice(1)}`;
}

/** @throws EnvelopeError `malformed-metadata` unless every field is well-formed */
export function readPartList(value: unknown): StoredPartList {
  const list = value as Partial<ListOf<unknown>> & { v?: unknown };
  if (
    !(list?.v === 1 || list?.v === 2) ||
    !isManifestId(list.manifest) ||
    !isWrappedKey(list.seal) ||
    typeof list.mac !== 'string' ||
    !isSum(list.sum) ||
    !Array.isArray(list.parts) ||
    list.parts.length < 1 ||
    list.parts.length > maxParts
  )
    throw malformed();
  const { manifest, seal, mac, sum, sums } = list;
  const rest = {
    ...{ manifest, seal, mac },
    ...(sum !== undefined && { sum }),
    ...(isSums(sums) && { sums }),
  };
  const { isPart } = bodyFormat(list.v);
  return { ...formatField(list.v), parts: inOrder(list.parts, isPart), ...rest } as StoredPartList;
}

function inOrder(values: readonly unknown[], isPart: BodyFormat['isPart']): StoredPartList['parts'] {
  let previous = 0;
  return values.map((value) => {
    if (value === null || typeof value !== 'object' || !isPart(value)) throw malformed();
    const { n, size } = value as { readonly n: number; readonly size?: unknown };
    if (!Number.isInteger(n) || n > maxParts || n <= previous) throw malformed();
    if (!Number.isSafeInteger(size) || (size as number) < 0) throw malformed();
    previous = n;
    return value as PartEntry & SegmentedPart;
  });
}

/** 16 random bytes in base64url. */
export const isManifestId = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{22}$/.test(value);

const isSum = (value: unknown): value is string | undefined =>
  value === undefined || (typeof value === 'string' && /^[A-Za-z0-9_-]{1,200}$/.test(value));

/**
 * 10,000 of the longest digests take 854,000 characters. Other forms are ignored, as reading the plaintext does not
 * need them.
 */
const isSums = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{1,900000}$/.test(value);

const malformed = () =>
  new EnvelopeError('malformed-metadata', 'the part list does not have the form that svc writes');
