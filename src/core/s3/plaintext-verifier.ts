import { type Checksum, type ChecksumAlgorithm, createChecksum } from './checksum.ts';
import { s3Error } from './error-catalog.ts';
import { decodeDigest, type Expectation } from './expectations.ts';

/** Checks a body, as it passes, against everything that the caller announced about it. */
export class PlaintextVerifier {
  readonly #expectations: readonly Expectation[];
  readonly #running = new Map<ChecksumAlgorithm, Checksum>();

  constructor(expectations: readonly Expectation[]) {
    this.#expectations = expectations;
    for (const { algorithm } of expectations) {
      if (!this.#running.has(algorithm)) this.#running.set(algorithm, createChecksum(algorithm));
    }
  }

  update(data: Buffer): void {
    for (const checksum of this.#running.values()) checksum.update(data);
  }

  /**
   * Once, after the last byte. Returns the `x-amz-checksum-…` headers that the answer carries.
   * @throws S3Error BadDigest, XAmzContentSHA256Mismatch, MalformedTrailerError, InvalidRequest
   */
  finish(trailers: ReadonlyMap<string, string> = new Map()): Record<string, string> {
    const digests = new Map(
      [...this.#running].map(([algorithm, checksum]) => [algorithm, checksum.digest()]),
    );
    const answer: Record<string, string> = {};
    this.#refuseStrangers(trailers);
    for (const expectation of this.#expectations) {
      const actual = digests.get(expectation.algorithm) as Buffer;
      if (!actual.equals(expectedValue(expectation, trailers))) throw mismatch(expectation);
      if (expectation.name.startsWith('x-amz-checksum-'))
        answer[expectation.name] = actual.toString('base64');
    }
    return answer;
  }

  /** A checksum that came without having been announced was not computed, and is not let pass as if it had been. */
  #refuseStrangers(trailers: ReadonlyMap<string, string>): void {
    const announced = new Set(
      this.#expectations.map(({ source, name }) => (source === 'trailer' ? name : '')),
    );
    for (const name of trailers.keys()) if (!announced.has(name)) throw s3Error('MalformedTrailerError');
  }
}

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
