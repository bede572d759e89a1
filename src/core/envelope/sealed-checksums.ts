import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type ChecksumAlgorithm, type Checksums, digestLength } from '../s3/checksum.ts';
import { EnvelopeError, nonceBytes, tagBytes } from './cipher.ts';

/** The body that checksums are of: under one DEK there is one. */
export interface SummedBody {
  /** Base64. */
  readonly nonce: string;
  /** Plaintext bytes. */
  readonly size: number;
}

const cipherName = 'aes-256-gcm';

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

/**
 * Checksums of a plaintext say something about it, so they are kept encrypted, under the DEK of their body and with a
 * nonce of their own. The associated data keep them apart from bodies, and bind them to this one.
 * @returns base64url of `nonce || ciphertext || tag`; the plaintext is a byte with the number of the algorithm, then the
 *   digest, for each
 */
export function sealChecksums(dek: Uint8Array, body: SummedBody, checksums: Checksums): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(cipherName, dek, nonce, { authTagLength: tagBytes });
  cipher.setAAD(associatedWith(body));
  const entries = numbers.flatMap(([number, algorithm]) => {
    const digest = checksums.get(algorithm);
    return digest === undefined ? [] : [Buffer.of(number), digest];
  });
  const sealed = [nonce, cipher.update(Buffer.concat(entries)), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(sealed).toString('base64url');
}

/** @throws EnvelopeError `record-forged` for what was not sealed under this DEK for this body */
export function openChecksums(dek: Uint8Array, body: SummedBody, sealed: string): Checksums {
  const bytes = Buffer.from(sealed, 'base64url');
  const end = bytes.length - tagBytes;
  if (end < nonceBytes) throw forged();
  const decipher = createDecipheriv(cipherName, dek, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(associatedWith(body));
  decipher.setAuthTag(bytes.subarray(end));
  const plain = decipher.update(bytes.subarray(nonceBytes, end));
  try {
    decipher.final();
  } catch (cause) {
    throw forged(cause);
  }
  return readEntries(plain);
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

const associatedWith = ({ nonce, size }: SummedBody): Buffer =>
  Buffer.from(`svc-checksums/1\n${size} ${nonce}\n`);

const forged = (cause?: unknown) =>
  new EnvelopeError(
    'record-forged',
    'the checksums in the record of a part are not the ones that were written for it',
    {
      cause,
    },
  );
