import { type ChecksumAlgorithm, digestLength } from '../s3/checksum.ts';
import { type ChecksumType, toldChecksum, type WholeChecksum } from '../s3/object-checksum.ts';
import { derivedKey, openText, sealText } from './cipher.ts';
import { numberOf, ofNumber } from './sealed-checksums.ts';

const composite = 0x80;

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
  return sealText(derivedKey(key, purpose), associatedWith(of), Buffer.concat([Buffer.of(number), digest]));
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
    derivedKey(key, purpose),
    associatedWith(of),
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

const purpose = 'svc/whole-checksum/1';

const associatedWith = (of: string): string => `${purpose}\n${of}\n`;

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
