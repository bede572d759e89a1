import { createHmac, timingSafeEqual } from 'node:crypto';
import { EnvelopeError, nonceBytes } from './cipher.ts';

/** One part of a multipart object, in the order of the stored body. */
export interface PartEntry {
  readonly n: number;
  /** Wrapped DEK, `vault:vN:…`. */
  readonly dek: string;
  /** Base64 of 12 bytes. */
  readonly nonce: string;
  /** Plaintext bytes. */
  readonly size: number;
}

/** The parts of an object with the proof that they are complete and in order. */
export interface PartList {
  /** Names the upload; part keys and the seal key are bound to it. */
  readonly manifest: string;
  readonly parts: readonly PartEntry[];
  /** Wrapped seal key. */
  readonly seal: string;
  /** HMAC-SHA-256 under the seal key, base64. */
  readonly mac: string;
  /** The checksum of the whole object, as `sealWholeChecksum` writes it, where there is one. */
  readonly sum?: string;
  /** The checksums of its parts, as `sealPartChecksums` writes them, where all have one. */
  readonly sums?: string;
}

const maxParts = 10_000;

/** @returns base64 HMAC over the upload and every field of every part, in order. */
export function sealMac(sealKey: Uint8Array, manifest: string, parts: readonly PartEntry[]): string {
  const mac = createHmac('sha256', sealKey);
  mac.update(`svc/1\n${manifest}\n${parts.length}\n`);
  for (const part of parts) mac.update(`${part.n} ${part.size} ${part.nonce} ${part.dek}\n`);
  return mac.digest('base64');
}

/** @throws EnvelopeError `manifest-forged` when parts were dropped, repeated, reordered or edited. */
export function verifySeal(sealKey: Uint8Array, list: PartList): void {
  const expected = Buffer.from(sealMac(sealKey, list.manifest, list.parts), 'base64');
  const stored = Buffer.from(list.mac, 'base64');
  if (stored.length !== expected.length || !timingSafeEqual(stored, expected))
    throw new EnvelopeError('manifest-forged', 'the seal over the part list does not match');
}

/** JSON of the inline form and of the manifest's `list`, fields in fixed order. */
export function serializePartList(list: PartList): string {
  const parts = list.parts.map(({ n, dek, nonce, size }) => ({ n, dek, nonce, size }));
  const { manifest, seal, mac, sum, sums } = list;
  return JSON.stringify({ v: 1, manifest, parts, seal, mac, sum, sums });
}

/** @throws EnvelopeError `malformed-metadata` unless every field has its exact shape. */
export function readPartList(value: unknown): PartList {
  const list = value as Partial<PartList> & { v?: unknown };
  if (
    list?.v !== 1 ||
    !isManifestId(list.manifest) ||
    !isWrappedKey(list.seal) ||
    typeof list.mac !== 'string' ||
    !isSum(list.sum) ||
    !Array.isArray(list.parts) ||
    list.parts.length < 1 ||
    list.parts.length > maxParts
  )
    throw malformed();
  let previous = 0;
  const parts = list.parts.map((part) => {
    const entry = readPart(part);
    if (entry.n <= previous) throw malformed();
    previous = entry.n;
    return entry;
  });
  const { manifest, seal, mac, sum, sums } = list;
  return {
    ...{ manifest, parts, seal, mac },
    ...(sum !== undefined && { sum }),
    ...(isSums(sums) && { sums }),
  };
}

function readPart(value: unknown): PartEntry {
  const part = value as Partial<PartEntry> | null;
  if (
    !Number.isInteger(part?.n) ||
    (part?.n as number) > maxParts ||
    !isWrappedKey(part?.dek) ||
    typeof part?.nonce !== 'string' ||
    Buffer.from(part.nonce, 'base64').length !== nonceBytes ||
    !Number.isSafeInteger(part?.size) ||
    (part?.size as number) < 0
  )
    throw malformed();
  return part as PartEntry;
}

/** 16 random bytes in base64url. */
export const isManifestId = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{22}$/.test(value);

const isSum = (value: unknown): value is string | undefined =>
  value === undefined || (typeof value === 'string' && /^[A-Za-z0-9_-]{1,200}$/.test(value));

/** 10,000 of the longest take 854,000 characters. What has another form is passed over: no reader of plaintext needs it. */
const isSums = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9_-]{1,900000}$/.test(value);

const isWrappedKey = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length < 1024 &&
  /^vault:v[1-9]\d{0,9}:[A-Za-z0-9+/]+={0,2}$/.test(value);

const malformed = () =>
  new EnvelopeError('malformed-metadata', 'the part list does not have the form that svc writes');
