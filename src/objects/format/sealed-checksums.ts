import {
  type ChecksumAlgorithm,
  type Checksums,
  type ChecksumType,
  digestLength,
  toldChecksum,
  type WholeChecksum,
} from '../s3/checksum.ts';
import { derivedKey, EnvelopeError, openText, sealText } from './cipher.ts';

/** Identifies the body of the checksums; each DEK encrypts a single body. */
export interface SummedBody {
  /** Base64. */
  readonly nonce: string;
  /** Plaintext bytes. */
  readonly size: number;
}

/**
 * Seals checksums, which reveal something about the plaintext, under the DEK of their body and with their own nonce.
 * The associated data distinguish them from bodies and bind them to this one.
 * @returns base64url of `nonce || ciphertext || tag`; for each checksum the plaintext has a byte with the algorithm's
 *   number, followed by the digest
 */
export function sealChecksums(dek: Uint8Array, body: SummedBody, checksums: Checksums): string {
  const entries = numbers.flatMap(([number, algorithm]) => {
    const digest = checksums.get(algorithm);
    return digest === undefined ? [] : [Buffer.of(number), digest];
  });
  return sealText(dek, ofBody(body), Buffer.concat(entries));
}

/** @throws EnvelopeError `record-forged` unless it was sealed under this DEK for this body */
export function openChecksums(dek: Uint8Array, body: SummedBody, sealed: string): Checksums {
  return readEntries(openText(dek, ofBody(body), sealed, 'the text of the checksums of a part'));
}

/** Stops at the first algorithm that this version does not know. */
function readEntries(plain: Buffer): Checksums {
  const checksums = new Map<ChecksumAlgorithm, Buffer>();
  for (let at = 0; at < plain.length; ) {
    const algorithm = ofNumber(plain[at]);
    if (algorithm === undefined) break;
    const end = at + 1 + digestLength[algorithm];
    checksums.set(algorithm, plain.subarray(at + 1, end));
    at = end;
  }
  return checksums;
}

const ofBody = ({ nonce, size }: SummedBody): string => `svc-checksums/1\n${size} ${nonce}\n`;

/**
 * Seals the checksum of a whole object, which reveals something about the plaintext: under the DEK of a single body or
 * under the seal key of an upload, and with its own nonce.
 * @param key derives a key for this purpose alone, by HKDF-Expand with SHA-256
 * @param of binds the checksum: the plaintext's size in bytes, or the HMAC of the part list
 * @returns base64url of `nonce || ciphertext || tag`; the plaintext is a byte with the algorithm's number, its high bit
 *   set for a composite checksum, followed by the digest
 */
export function sealWholeChecksum(
  key: Uint8Array,
  of: string,
  { algorithm, type, text }: WholeChecksum,
): string {
  const number = numberOf(algorithm) | (type === 'COMPOSITE' ? composite : 0);
  const digest = Buffer.from(text.replace(/-\d+$/, ''), 'base64');
  return sealText(
    derivedKey(key, purposes.whole),
    boundTo(purposes.whole, of),
    Buffer.concat([Buffer.of(number), digest]),
  );
}

/**
 * @param parts number of parts, which a composite checksum ends in
 * @returns undefined for an algorithm that this version does not know
 * @throws EnvelopeError `record-forged` unless it was sealed under this key for this object
 */
export function openWholeChecksum(
  key: Uint8Array,
  of: string,
  sealed: string,
  parts: number,
): WholeChecksum | undefined {
  const plain = openText(
    derivedKey(key, purposes.whole),
    boundTo(purposes.whole, of),
    sealed,
    'the checksum kept with the object',
  );
  const number = plain[0] ?? 0;
  const digest = plain.subarray(1);
  const algorithm = ofNumber(number & ~composite);
  if (algorithm === undefined || digest.length !== digestLength[algorithm]) return undefined;
  const type: ChecksumType = number & composite ? 'COMPOSITE' : 'FULL_OBJECT';
  return toldChecksum({ algorithm, type }, digest, parts);
}

/** An object's checksum as its metadata describe it. */
export interface EnvelopeChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly type: ChecksumType;
  /** Only for an object in one piece; for one in parts the sealed checksum is in its part list. */
  readonly sealed?: string;
}

const words: Readonly<Record<ChecksumType, string>> = { FULL_OBJECT: 'full', COMPOSITE: 'composite' };

/** `<algorithm>.<full or composite>[.<sealed>]`. Only what listings show without a key is in the clear. */
export const serializeChecksum = ({ algorithm, type, sealed }: EnvelopeChecksum): string =>
  `${algorithm}.${words[type]}${sealed === undefined ? '' : `.${sealed}`}`;

const pattern = /^([a-z0-9]{1,20})\.(full|composite)(?:\.([A-Za-z0-9_-]{1,200}))?$/;

/** @returns undefined for another form, `unknown` for an algorithm that this version does not know */
export function readChecksum(text: string): EnvelopeChecksum | 'unknown' | undefined {
  const [, algorithm = '', word, sealed] = pattern.exec(text) ?? [];
  if (word === undefined) return undefined;
  if (!Object.hasOwn(digestLength, algorithm)) return 'unknown';
  const type: ChecksumType = word === 'full' ? 'FULL_OBJECT' : 'COMPOSITE';
  return { algorithm: algorithm as ChecksumAlgorithm, type, ...(sealed !== undefined && { sealed }) };
}

/** The checksums of all parts of an object, by one algorithm. */
export interface PartChecksums {
  readonly algorithm: ChecksumAlgorithm;
  /** Concatenated in the order of the part list. */
  readonly digests: Buffer;
}

export function partChecksum({ algorithm, digests }: PartChecksums, index: number): Buffer {
  const length = digestLength[algorithm];
  return digests.subarray(index * length, (index + 1) * length);
}

/**
 * Seals the part checksums under a key derived from the seal key, bound to the list.
 * @param mac the HMAC of the part list
 * @returns base64url of `nonce || ciphertext || tag`; the plaintext is a byte with the algorithm's number, followed by
 *   the digests
 */
export const sealPartChecksums = (
  sealKey: Uint8Array,
  mac: string,
  { algorithm, digests }: PartChecksums,
): string =>
  sealText(
    derivedKey(sealKey, purposes.parts),
    boundTo(purposes.parts, mac),
    Buffer.concat([Buffer.of(numberOf(algorithm)), digests]),
  );

/**
 * @param parts number of entries in the list
 * @returns undefined for an algorithm that this version does not know
 * @throws EnvelopeError `record-forged` unless it was sealed under this key for this list
 */
export function openPartChecksums(
  sealKey: Uint8Array,
  mac: string,
  sealed: string,
  parts: number,
): PartChecksums | undefined {
  const plain = openText(
    derivedKey(sealKey, purposes.parts),
    boundTo(purposes.parts, mac),
    sealed,
    'the checksums of the parts',
  );
  const algorithm = ofNumber(plain[0]);
  if (algorithm === undefined) return undefined;
  const digests = plain.subarray(1);
  if (digests.length === parts * digestLength[algorithm]) return { algorithm, digests };
  throw new EnvelopeError('record-forged', 'the list does not have one checksum for each of its parts');
}

/**
 * Seals the MD5 of a plaintext as the caller spelled it. For an upload in parts it is known before the parts, so only
 * the object's key can bind it.
 * @param key the DEK of a single body, or the seal key of an upload
 * @param text a header value, one byte a character
 * @returns base64url of `nonce || ciphertext || tag`
 */
export const sealMd5 = (key: Uint8Array, text: string): string =>
  sealText(derivedKey(key, purposes.md5), `${purposes.md5}\n`, Buffer.from(text, 'latin1'));

/** @throws EnvelopeError `record-forged` */
export const openMd5 = (key: Uint8Array, sealed: string): string =>
  openText(
    derivedKey(key, purposes.md5),
    `${purposes.md5}\n`,
    sealed,
    'the MD5 kept with the object',
  ).toString('latin1');

/** Prefixes of derivation info and associated data, by kind. */
const purposes = {
  whole: 'svc/whole-checksum/1',
  parts: 'svc/part-checksums/1',
  md5: 'svc/named-md5/1',
} as const;

const boundTo = (purpose: string, of: string): string => `${purpose}\n${of}\n`;

/** Flag in an algorithm's number: the checksum is over those of the parts. */
const composite = 0x80;

/** Numbers in stored forms. */
const numbers: readonly (readonly [number, ChecksumAlgorithm])[] = [
  [1, 'crc32'],
  [2, 'crc32c'],
  [3, 'crc64nvme'],
  [4, 'sha1'],
  [5, 'sha256'],
  [6, 'sha512'],
  [7, 'md5'],
  [8, 'xxhash64'],
  [9, 'xxhash3'],
  [10, 'xxhash128'],
];

export const numberOf = (algorithm: ChecksumAlgorithm): number =>
  numbers.find(([, known]) => known === algorithm)?.[0] ?? 0;

/** @returns undefined for an algorithm that this version does not know */
export const ofNumber = (number: number | undefined): ChecksumAlgorithm | undefined =>
  numbers.find(([known]) => known === number)?.[1];
