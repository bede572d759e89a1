import { createHmac, timingSafeEqual } from 'node:crypto';
import { isSaltOfPart } from './body-keys.ts';
import { EnvelopeError, nonceBytes, storedSize } from './cipher.ts';
import { segmentedSize } from './segments.ts';

/** 1: a body is encrypted in one piece. 2: in segments, under a key derived for the body. */
export type EnvelopeFormat = 1 | 2;

/** One part of a multipart object, in the order of the stored body. */
export interface PartEntry {
  readonly n: number;
  /** Wrapped DEK, `vault:vN:…`. */
  readonly dek: string;
  /** Base64 of 12 bytes. */
  readonly nonce: string;
  /** Plaintext bytes. */
  readonly size: number;
  /** The DEK sealed under the seal key by `sealPartForRecovery`, if there are recovery keys. */
  readonly recovery?: string;
}

/** One part of a multipart object in format 2, whose parts share a DEK. */
export interface SegmentedPart {
  readonly n: number;
  /** Derives the body's key or, for a copied body, opens it. */
  readonly salt: string;
  /** Plaintext bytes. */
  readonly size: number;
}

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

/** @returns stored bytes of a body with this many plaintext bytes */
export const storedBodySize = (format: EnvelopeFormat | undefined, size: number): number =>
  format === 2 ? segmentedSize(size) : storedSize(size);

/** @returns plaintext bytes of all parts */
export const plaintextListSize = ({ parts }: StoredPartList): number =>
  parts.reduce((sum: number, { size }) => sum + size, 0);

/** @returns stored bytes of all parts */
export const storedListSize = ({ format, parts }: StoredPartList): number =>
  parts.reduce((sum: number, { size }) => sum + storedBodySize(format, size), 0);

/** @returns base64 HMAC over the upload and every field of every part, in order */
export function sealMac(
  sealKey: Uint8Array,
  manifest: string,
  parts: StoredPartList['parts'],
  format: EnvelopeFormat = 1,
): string {
  const mac = createHmac('sha256', sealKey);
  mac.update(`svc/${format}\n${manifest}\n${parts.length}\n`);
  for (const part of parts) mac.update(`${part.n} ${part.size} ${proofOf(part)}\n`);
  return mac.digest('base64');
}

const proofOf = (part: PartEntry | SegmentedPart): string =>
  'salt' in part ? part.salt : `${part.nonce} ${part.dek}`;

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
  const { format = 1, manifest, parts, seal, mac, sum, sums } = list;
  yield `${JSON.stringify({ v: format, manifest }).slice(0, -1)},"parts":[`;
  for (let from = 0; from < parts.length; from += partsAtOnce) {
    const some = parts.slice(from, from + partsAtOnce).map(inFixedOrder);
    yield (from === 0 ? '' : ',') + JSON.stringify(some).slice(1, -1);
  }
  yield `],${JSON.stringify({ seal, mac, sum, sums }).slice(1)}`;
}

const inFixedOrder = (part: PartEntry | SegmentedPart) =>
  'salt' in part
    ? { n: part.n, salt: part.salt, size: part.size }
    : { n: part.n, dek: part.dek, nonce: part.nonce, size: part.size, recovery: part.recovery };

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
  return list.v === 2
    ? { format: 2, parts: inOrder(list.parts, isSegmentedPart), ...rest }
    : { parts: inOrder(list.parts, isPartEntry), ...rest };
}

function inOrder<Part extends { readonly n: number }>(
  values: readonly unknown[],
  isPart: (value: object) => value is Part,
): readonly Part[] {
  let previous = 0;
  return values.map((value) => {
    if (value === null || typeof value !== 'object' || !isPart(value)) throw malformed();
    const { n, size } = value as Part & { readonly size?: unknown };
    if (!Number.isInteger(n) || n > maxParts || n <= previous) throw malformed();
    if (!Number.isSafeInteger(size) || (size as number) < 0) throw malformed();
    previous = n;
    return value;
  });
}

const isPartEntry = (part: Partial<PartEntry>): part is PartEntry =>
  isWrappedKey(part.dek) &&
  typeof part.nonce === 'string' &&
  Buffer.from(part.nonce, 'base64').length === nonceBytes &&
  isPartRecovery(part.recovery);

const isSegmentedPart = (part: Partial<SegmentedPart>): part is SegmentedPart => isSaltOfPart(part.salt);

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

/** 60 bytes. */
const isPartRecovery = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' && /^[A-Za-z0-9_-]{80}$/.test(value));

export const isWrappedKey = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length < 1024 &&
  /^vault:v[1-9]\d{0,9}:[A-Za-z0-9+/]+={0,2}$/.test(value);

const malformed = () =>
  new EnvelopeError('malformed-metadata', 'the part list does not have the form that svc writes');
