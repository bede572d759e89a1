import {
  type ChecksumAlgorithm,
  type Checksums,
  type ChecksumType,
  digestLength,
  toldChecksum,
  type WholeChecksum,
} from '../s3/checksum.ts';
import { derivedKey, EnvelopeError, openText, sealText } from './cipher.ts';

/** The body that checksums are of: under one DEK there is one. */
export interface SummedBody {
  /** Base64. */
  readonly nonce: string;
  /** Plaintext bytes. */
  readonly size: number;
}

/**
 * Checksums of a plaintext say something about it, so they are kept encrypted, under the DEK of their body and with a
 * nonce of their own. The associated data keep them apart from bodies, and bind them to this one.
 * @returns base64url of `nonce || ciphertext || tag`; the plaintext is a byte with the number of the algorithm, then the
 *   digest, for each
 */
export function sealChecksums(dek: Uint8Array, body: SummedBody, checksums: Checksums): string {
  const entries = numbers.flatMap(([number, algorithm]) => {
    const digest = checksums.get(algorithm);
    return digest === undefined ? [] : [Buffer.of(number), digest];
  });
  return sealText(dek, ofBody(body), Buffer.concat(entries));
}

/** @throws EnvelopeError `record-forged` for what was not sealed under this DEK for this body */
export function openChecksums(dek: Uint8Array, body: SummedBody, sealed: string): Checksums {
  return readEntries(openText(dek, ofBody(body), sealed, 'the text of the checksums of a part'));
}

/** Up to the first that a later version has added. */
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
 * The checksum of a whole object says something about its plaintext, so it is kept encrypted: under the DEK of an object in one
 * piece, under the seal key of one in parts, and with a nonce of its own.
 * @param key from which a key for this purpose alone is derived, by HKDF-Expand with SHA-256
 * @param of what binds it: the plaintext's size in bytes, or the HMAC of the part list
 * @returns base64url of `nonce || ciphertext || tag`; the plaintext is a byte with the number of the algorithm, its high bit set for
 *   a composite one, then the digest
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
 * @param parts of the object: a composite checksum ends in their number
 * @returns undefined for an algorithm that a later version has added
 * @throws EnvelopeError `record-forged` for what was not sealed under this key for this object
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

/** What the metadata of an object say of its checksum. */
export interface EnvelopeChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly type: ChecksumType;
  /** Of an object in one piece. That of one in parts stands in its part list. */
  readonly sealed?: string;
}

const words: Readonly<Record<ChecksumType, string>> = { FULL_OBJECT: 'full', COMPOSITE: 'composite' };

/** `<algorithm>.<full or composite>[.<sealed>]`. In the clear is what listings show without a key. */
export const serializeChecksum = ({ algorithm, type, sealed }: EnvelopeChecksum): string =>
  `${algorithm}.${words[type]}${sealed === undefined ? '' : `.${sealed}`}`;

const pattern = /^([a-z0-9]{1,20})\.(full|composite)(?:\.([A-Za-z0-9_-]{1,200}))?$/;

/** @returns undefined for what has another form; an algorithm that a later version has added is none that is known. */
export function readChecksum(text: string): EnvelopeChecksum | 'unknown' | undefined {
  const [, algorithm = '', word, sealed] = pattern.exec(text) ?? [];
  if (word === undefined) return undefined;
  if (!Object.hasOwn(digestLength, algorithm)) return 'unknown';
  const type: ChecksumType = word === 'full' ? 'FULL_OBJECT' : 'COMPOSITE';
  return { algorithm: algorithm as ChecksumAlgorithm, type, ...(sealed !== undefined && { sealed }) };
}

/** The checksums of all parts of an object, of one algorithm. */
export interface PartChecksums {
  readonly algorithm: ChecksumAlgorithm;
  /** One after the other, in the order of the part list. */
  readonly digests: Buffer;
}

export function partChecksum({ algorithm, digests }: PartChecksums, index: number): Buffer {
  const length = digestLength[algorithm];
  return digests.subarray(index * length, (index + 1) * length);
}

/**
 * Under a key derived from the seal key, as the checksum of the whole is, and bound to the list.
 * @param mac the HMAC of the part list
 * @returns base64url of `nonce || ciphertext || tag`; the plaintext is a byte with the number of the algorithm, then the digests
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
 * @param parts number of entries of the list
 * @returns undefined for an algorithm that a later version has added
 * @throws EnvelopeError `record-forged` for what was not sealed under this key for this list
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
 * The MD5 of a plaintext as a caller names it, in the caller's spelling. Of an upload in parts it is known before them, so that
 * nothing of the object but its key can bind it.
 * @param key the DEK of an object in one piece, the seal key of one in parts
 * @param text a header's value: a byte a character
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

/** What the keys and the associated data of each kind begin with. */
const purposes = {
  whole: 'svc/whole-checksum/1',
  parts: 'svc/part-checksums/1',
  md5: 'svc/named-md5/1',
} as const;

const boundTo = (purpose: string, of: string): string => `${purpose}\n${of}\n`;

/** Set in the number of an algorithm: the checksum is one over those of the parts. */
const composite = 0x80;

/** Numbers of the stored form. */
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

/** The number of an algorithm in stored forms. */
export const numberOf = (algorithm: ChecksumAlgorithm): number =>
  numbers.find(([, known]) => known === algorithm)?.[0] ?? 0;

/** @returns undefined for one that a later version has added */
export const ofNumber = (number: number | undefined): ChecksumAlgorithm | undefined =>
  numbers.find(([known]) => known === number)?.[1];
