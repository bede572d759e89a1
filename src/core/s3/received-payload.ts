import type { IncomingHttpHeaders } from 'node:http';
import {
  type Checksum,
  type ChecksumAlgorithm,
  type Checksums,
  createChecksum,
  decodeDigest,
  type Expectation,
  expectations,
  loadChecksums,
} from './checksum.ts';
import { ChunkDecoder } from './chunk-decoder.ts';
import { ChunkSignatureVerifier } from './chunk-encoder.ts';
import { s3Error } from './error.ts';
import { announcedLength, type PayloadMode, payloadMode } from './sigv4-sign.ts';
import type { VerifiedSignature } from './sigv4-verify.ts';

/** A body after decoding its transfer form (plain, chunked, aws-chunked). */
export interface Payload {
  /** Bytes as declared (Content-Length or x-amz-decoded-content-length), undefined when the sender did not say. */
  readonly length: number | undefined;
  /**
   * The body, in order. The iteration ends only after length, checksums, digests and
   * signatures have all been found right; otherwise it throws S3Error (BadDigest, IncompleteBody …).
   * Chunks are valid until the next is asked for.
   * @param also a checksum that is calculated whether or not it was announced
   */
  chunks(also?: ChecksumAlgorithm): AsyncIterable<Buffer>;
  /** True where the sender names a checksum, in a header or a trailer. */
  readonly announcesChecksum: boolean;
  /** Those that a header names. The iteration ends only if they are right. */
  readonly announced: Checksums;
  /** Of the body, once the iteration has ended: the announced ones, found right, and the one that was asked for. */
  checksums(): Checksums;
  /**
   * The whole body, checked, where it is short and says how long it is; undefined for others, which are read by `chunks`.
   * @param limit bytes after decoding
   */
  short?(limit: number, also?: ChecksumAlgorithm): Promise<Buffer> | undefined;
  /** The whole body, checked. @throws S3Error when it is longer than `limit` bytes. */
  read(limit: number): Promise<Buffer>;
}

export interface PayloadSource {
  readonly headers: IncomingHttpHeaders;
  /** Undefined where senders are not authenticated: chunk signatures are passed over then. */
  readonly signature: VerifiedSignature | undefined;
  /** The body as it comes from the wire; asked for once. */
  readonly raw: () => AsyncIterable<Buffer>;
  /** The same in one piece, of exactly so many bytes; asked for in place of `raw`. Absent: bodies are only read by `raw`. */
  readonly whole?: (length: number) => Promise<Buffer>;
  /** Most bytes after decoding; more is EntityTooLarge. */
  readonly limit: number;
  /** Told the `x-amz-checksum-*` that were verified or calculated, for the answer. */
  readonly onVerified?: (checksums: Readonly<Record<string, string>>) => void;
}

/** @throws S3Error for a head that announces its body wrongly (InvalidArgument, InvalidDigest …). */
export function createPayload(source: PayloadSource): Payload {
  const { headers, signature } = source;
  const contentSha256 = signature?.contentSha256 ?? single(headers['x-amz-content-sha256']);
  const mode = payloadMode(contentSha256);
  const length = bodyLength(headers, mode);
  const expected = expectations(headers, mode);
  let found: Checksums = new Map();
  const onEnd = (checksums: Checksums) => {
    found = checksums;
    source.onVerified?.(checksumHeaders(checksums));
  };
  const chunks = (also?: ChecksumAlgorithm) => verified(source, { mode, length, expected, also, onEnd });
  const named = expected.filter(({ name }) => name.startsWith(checksumPrefix));
  return {
    length,
    chunks,
    announcesChecksum: named.length > 0,
    announced: new Map(named.flatMap(({ algorithm, value }) => (value ? [[algorithm, value]] : []))),
    checksums: () => found,
    short: (limit, also) => {
      const wire = Number(headers['content-length'] ?? Number.NaN);
      const fits = length !== undefined && length <= limit && wire <= limit + mostFraming;
      if (!fits || source.whole === undefined) return undefined;
      return verifiedWhole(source.whole(wire), source, { mode, length, expected, also, onEnd });
    },
    read: (limit) => readAll(chunks, length, limit),
  };
}

const checksumPrefix = 'x-amz-checksum-';

interface Checks {
  readonly mode: PayloadMode;
  readonly length: number | undefined;
  readonly expected: readonly Expectation[];
  readonly also: ChecksumAlgorithm | undefined;
  readonly onEnd: (checksums: Checksums) => void;
}

async function* verified(source: PayloadSource, checks: Checks): AsyncGenerator<Buffer> {
  const { mode, length, expected, also, onEnd } = checks;
  await loadChecksums(algorithmsOf(expected, also));
  const verifier = new PlaintextVerifier(expected, also);
  const decoder = mode.kind === 'chunked' ? decoderFor(mode, length, source.signature) : undefined;
  let received = 0;
  for await (const raw of source.raw()) {
    for (const chunk of decoder?.push(raw) ?? [raw]) {
      received += chunk.length;
      if (received > source.limit) throw s3Error('EntityTooLarge');
      verifier.update(chunk);
      yield chunk;
    }
  }
  decoder?.end();
  if (length !== undefined && received !== length) throw s3Error('IncompleteBody');
  onEnd(verifier.finish(decoder?.trailers));
}

/** What the chunks of a short body may take beside its data, in bytes. */
const mostFraming = 64 * 1024;

async function verifiedWhole(raw: Promise<Buffer>, source: PayloadSource, checks: Checks): Promise<Buffer> {
  const { mode, length, expected, also, onEnd } = checks;
  const loading = loadChecksums(algorithmsOf(expected, also));
  const bytes = await raw;
  if (loading !== undefined) await loading;
  const verifier = new PlaintextVerifier(expected, also);
  const decoder = mode.kind === 'chunked' ? decoderFor(mode, length, source.signature) : undefined;
  const pieces = decoder?.push(bytes) ?? [bytes];
  const body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  verifier.update(body);
  decoder?.end();
  if (body.length !== length) throw s3Error('IncompleteBody');
  onEnd(verifier.finish(decoder?.trailers));
  return body;
}

function decoderFor(
  { signed, trailer }: PayloadMode & { kind: 'chunked' },
  decodedLength: number | undefined,
  signature: VerifiedSignature | undefined,
): ChunkDecoder {
  const observer = signed && signature ? new ChunkSignatureVerifier(signature) : undefined;
  return new ChunkDecoder({ signed, trailer, decodedLength, observer });
}

/** A request without either framing header has no body. */
function bodyLength(headers: IncomingHttpHeaders, mode: PayloadMode): number | undefined {
  const announced = announcedLength(headers, mode);
  return announced === undefined && !hasBody(headers) ? 0 : announced;
}

/** True when the head says that a body follows. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function readAll(chunks: () => AsyncIterable<Buffer>, length = 0, limit: number): Promise<Buffer> {
  if (length > limit) throw tooLong();
  const pieces = new JoinedPieces();
  for await (const chunk of chunks()) {
    pieces.add(chunk);
    if (pieces.size > limit) throw tooLong();
  }
  return pieces.whole();
}

const tooLong = () => s3Error('MaxMessageLengthExceeded');

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;

/** Pieces that wait at most to be joined. */
const mostLoose = 256;

/**
 * A body that is collected whole. Callers may cut it into single bytes, and each slice costs a hundred times
 * that and keeps the block that it was cut from, so loose pieces are copied together on the way.
 */
export class JoinedPieces {
  readonly #joined: Buffer[] = [];
  #loose: Buffer[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(piece: Buffer): void {
    this.#size += piece.length;
    this.#loose.push(Buffer.from(piece));
    if (this.#loose.length === mostLoose) this.#join();
  }

  whole(): Buffer {
    return Buffer.concat([...this.#joined, ...this.#loose], this.#size);
  }

  #join(): void {
    this.#joined.push(Buffer.concat(this.#loose));
    this.#loose = [];
  }
}

function algorithmsOf(
  expectations: readonly Expectation[],
  also: ChecksumAlgorithm | undefined,
): ChecksumAlgorithm[] {
  const wanted = expectations.map(({ algorithm }) => algorithm);
  return also === undefined ? wanted : [...wanted, also];
}

/** Checks a body, as it passes, against everything that the caller announced about it. */
export class PlaintextVerifier {
  readonly #expectations: readonly Expectation[];
  readonly #also: ChecksumAlgorithm | undefined;
  readonly #running = new Map<ChecksumAlgorithm, Checksum>();

  /** @param also calculated beside what is expected */
  constructor(expectations: readonly Expectation[], also?: ChecksumAlgorithm) {
    this.#expectations = expectations;
    this.#also = also;
    for (const algorithm of algorithmsOf(expectations, also)) {
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
      if (!actual.equals(expectedValue(expectation, trailers))) throw mismatch(expectation, actual);
      if (expectation.name.startsWith(checksumPrefix)) checksums.set(expectation.algorithm, actual);
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
    [...checksums].map(([algorithm, digest]) => [`${checksumPrefix}${algorithm}`, digest.toString('base64')]),
  );

function expectedValue(
  { algorithm, name, value }: Expectation,
  trailers: ReadonlyMap<string, string>,
): Buffer {
  if (value) return value;
  const text = trailers.get(name);
  if (text === undefined) throw s3Error('MalformedTrailerError');
  return decodeDigest(text, algorithm, `${name} trailing header`);
}

function mismatch({ source, algorithm, value }: Expectation, actual: Buffer) {
  if (source === 'content-sha256') {
    return s3Error('XAmzContentSHA256Mismatch', undefined, {
      details: {
        ClientComputedContentSHA256: (value as Buffer).toString('hex'),
        S3ComputedContentSHA256: actual.toString('hex'),
      },
    });
  }
  if (source === 'content-md5') {
    return s3Error('BadDigest', 'The Content-MD5 you specified did not match what we received.', {
      details: {
        ExpectedDigest: (value as Buffer).toString('hex'),
        CalculatedDigest: actual.toString('base64'),
      },
    });
  }
  return s3Error(
    'BadDigest',
    `The ${algorithm.toUpperCase()} you specified did not match the calculated checksum.`,
  );
}
