import { type Checksum, type ChecksumAlgorithm, type Checksums, createChecksum } from './checksum.ts';
import { s3Error } from './error-catalog.ts';
import { decodeDigest, type Expectation } from './expectations.ts';

/** Checks a body, as it passes, against everything that the caller announced about it. */
export class PlaintextVerifier {
  readonly #expectations: readonly Expectation[];
  readonly #also: ChecksumAlgorithm | undefined;
  readonly #running = new Map<ChecksumAlgorithm, Checksum>();

  /** @param also calculated beside what is expected */
  constructor(expectations: readonly Expectation[], also?: ChecksumAlgorithm) {
    this.#expectations = expectations;
    this.#also = also;
    const wanted = expectations.map(({ algorithm }) => algorithm);
    for (const algorithm of also === undefined ? wanted : [...wanted, also]) {
      if (!this.#running.has(algorithm)) this.#running.set(algorithm, createChecksum(algorithm));
    }
  }

  update(data: Buffer): void {
    for (const checksum of this.#running.values()) checksum.update(data);
  }

  /**
   * Once, after the last byte. Returns what was announced as `x-amz-checksum-…`, and what was to be calculated besides.
   * @throws S3Error BadDigest, XAmzContentSHA256Mismatch, MalformedTrailerError, InvalidRequest
   */
  finish(trailers: ReadonlyMap<string, string> = new Map()): Checksums {
    const digests = new Map(
      [...this.#running].map(([algorithm, checksum]) => [algorithm, checksum.digest()]),
    );
    const checksums = new Map<ChecksumAlgorithm, Buffer>();
    this.#refuseStrangers(trailers);
    for (const expectation of this.#expectations) {
      const actual = digests.get(expectation.algorithm) as Buffer;
      if (!actual.equals(expectedValue(expectation, trailers))) throw mismatch(expectation);
      if (expectation.name.startsWith('x-amz-checksum-')) checksums.set(expectation.algorithm, actual);
    }
    if (this.#also !== undefined) checksums.set(this.#also, digests.get(this.#also) as Buffer);
    return checksums;
  }

  /** A checksum that came without having been announced was not computed, and is not let pass as if it had been. */
  #refuseStrangers(trailers: ReadonlyMap<string, string>): void {
    const announced = new Set(
      this.#expectations.map(({ source, name }) => (source === 'trailer' ? name : '')),
    );
    for (const name of trailers.keys()) if (!announced.has(name)) throw s3Error('MalformedTrailerError');
  }
}

/** Checksums as the headers of an answer have them. */
export const checksumHeaders = (checksums: Checksums): Record<string, string> =>
  Object.fromEntries(
    [...checksums].map(([algorithm, digest]) => [`x-amz-checksum-${algorithm}`, digest.toString('base64')]),
  );

function expectedValue(
  { algorithm, name, value }: Expectation,
  trailers: ReadonlyMap<string, string>,
): Buffer {
  if (value) return value;
  const text = trailers.get(name);
  if (text === undefined)
    throw s3Error('MalformedTrailerError', 'The trailer that x-amz-trailer announces is missing.');
  return decodeDigest(text, algorithm, name);
}

function mismatch({ source, algorithm }: Expectation) {
  if (source === 'content-sha256') return s3Error('XAmzContentSHA256Mismatch');
  if (source === 'content-md5')
    return s3Error('BadDigest', 'The Content-MD5 you specified did not match what we received.');
  return s3Error(
    'BadDigest',
    `The ${algorithm.toUpperCase()} you specified did not match the calculated checksum.`,
  );
}
