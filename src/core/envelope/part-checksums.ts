import { type ChecksumAlgorithm, digestLength } from '../s3/checksum.ts';
import { derivedKey, EnvelopeError, openText, sealText } from './cipher.ts';
import { numberOf, ofNumber } from './sealed-checksums.ts';

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
    derivedKey(sealKey, purpose),
    associatedWith(mac),
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
    derivedKey(sealKey, purpose),
    associatedWith(mac),
    sealed,
    'the checksums of the parts',
  );
  const algorithm = ofNumber(plain[0]);
  if (algorithm === undefined) return undefined;
  const digests = plain.subarray(1);
  if (digests.length === parts * digestLength[algorithm]) return { algorithm, digests };
  throw new EnvelopeError('record-forged', 'the list does not have one checksum for each of its parts');
}

const purpose = 'svc/part-checksums/1';

const associatedWith = (mac: string): string => `${purpose}\n${mac}\n`;
