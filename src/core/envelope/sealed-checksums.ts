import { type ChecksumAlgorithm, type Checksums, digestLength } from '../s3/checksum.ts';
import { openText, sealText } from './cipher.ts';

/** The body that checksums are of: under one DEK there is one. */
export interface SummedBody {
  /** Base64. */
  readonly nonce: string;
  /** Plaintext bytes. */
  readonly size: number;
}

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
  const entries = numbers.flatMap(([number, algorithm]) => {
    const digest = checksums.get(algorithm);
    return digest === undefined ? [] : [Buffer.of(number), digest];
  });
  return sealText(dek, associatedWith(body), Buffer.concat(entries));
}

/** @throws EnvelopeError `record-forged` for what was not sealed under this DEK for this body */
export function openChecksums(dek: Uint8Array, body: SummedBody, sealed: string): Checksums {
  return readEntries(openText(dek, associatedWith(body), sealed, 'the text of the checksums of a part'));
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

const associatedWith = ({ nonce, size }: SummedBody): string => `svc-checksums/1\n${size} ${nonce}\n`;
