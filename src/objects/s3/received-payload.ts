import type { IncomingHttpHeaders } from 'node:http';
import { collect } from '../../runtime/bounds/collect.ts';
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

/** A request body after decoding its framing (plain, chunked, aws-chunked). */
export interface Payload {
  /** Announced bytes (Content-Length or x-amz-decoded-content-length); undefined if there is no announcement. */
  readonly length: number | undefined;
  /**
   * The body in order. The iteration ends without error only after length, checksums, digests and signatures were
   * verified; otherwise it throws an S3Error (BadDigest, IncompleteBody …). Chunks are valid until the next is
   * requested.
   * @param also a checksum to calculate even if it was not announced
   */
  chunks(also?: ChecksumAlgorithm): AsyncIterable<Buffer>;
  /** True if the sender announces a checksum, in a header or a trailer. */
  readonly announcesChecksum: boolean;
  /** Checksums in headers. The iteration ends without error only if they match. */
  readonly announced: Checksums;
  /**
   * Checksums of the body once the iteration has ended: the announced ones, verified, and the one requested by `also`.
   */
  checksums(): Checksums;
  /**
   * The whole verified body if it is short and of announced length; undefined for others, to be read by `chunks`.
   * @param limit bytes after decoding
   */
  short?(limit: number, also?: ChecksumAlgorithm): Promise<Buffer> | undefined;
  /** The whole verified body. @throws S3Error if it is longer than `limit` bytes */
  read(limit: number): Promise<Buffer>;
}

export interface PayloadSource {
  readonly headers: IncomingHttpHeaders;
  /** Undefined if senders are not authenticated; chunk signatures are then ignored. */
  readonly signature: VerifiedSignature | undefined;
  /** The body as received; called once. */
  readonly raw: () => AsyncIterable<Buffer>;
  /**
   * The body in one piece of exactly `length` bytes; called in place of `raw`. Absent: bodies are only read by `raw`.
   */
  readonly whole?: (length: number) => Promise<Buffer>;
  /** Maximum bytes after decoding; EntityTooLarge beyond. */
  readonly limit: number;
  /** Lets all other work run; awaited between the chunks of a body that has many. Absent: nothing else needs to run. */
  readonly nextTurn?: () => Promise<void>;
  /** Called with the `x-amz-checksum-*` values that were verified or calculated, for the response. */
  readonly onVerified?: (checksums: Readonly<Record<string, string>>) => void;
}

/** @throws S3Error for headers that announce the body incorrectly (InvalidArgument, InvalidDigest …) */
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
      const fits = length !== undefined && length <= limit && wire <= limit + maxFraming;
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
  const chunks = decoder === undefined ? source.raw() : decodeInTurns(source.raw(), decoder, source.nextTurn);
  for await (const chunk of chunks) {
    received += chunk.length;
    if (received > source.limit) throw s3Error('EntityTooLarge');
    verifier.update(chunk);
    yield chunk;
  }
  decoder?.end();
  if (length !== undefined && received !== length) throw s3Error('IncompleteBody');
  onEnd(verifier.finish(decoder?.trailers));
}

/** Chunks of one body that are decoded before all other work gets its turn: with a signature to check, and without. */
const maxChunksInTurn = { signed: 128, unsigned: 2_048 };

/** What the decoder makes of a body, which its sender may have cut into chunks of one byte. */
async function* decodeInTurns(
  body: AsyncIterable<Buffer> | Iterable<Buffer>,
  decoder: ChunkDecoder,
  nextTurn: PayloadSource['nextTurn'],
): AsyncGenerator<Buffer> {
  const inTurn = maxChunksInTurn[decoder.isObserved ? 'signed' : 'unsigned'];
  let turn = decoder.chunks + inTurn;
  for await (const raw of body) {
    for (let rest = raw; rest.length > 0; rest = decoder.rest) {
      yield* decoder.push(rest, turn - decoder.chunks);
      if (decoder.chunks < turn) continue;
      await nextTurn?.();
      turn = decoder.chunks + inTurn;
    }
  }
}

/** Maximum framing bytes of a short body in chunks, besides its data. */
const maxFraming = 64 * 1024;

async function verifiedWhole(raw: Promise<Buffer>, source: PayloadSource, checks: Checks): Promise<Buffer> {
  const { mode, length, expected, also, onEnd } = checks;
  const loading = loadChecksums(algorithmsOf(expected, also));
  const bytes = await raw;
  if (loading !== undefined) await loading;
  const verifier = new PlaintextVerifier(expected, also);
  const decoder = mode.kind === 'chunked' ? decoderFor(mode, length, source.signature) : undefined;
  const pieces: Buffer[] = [];
  if (decoder === undefined) pieces.push(bytes);
  else for await (const piece of decodeInTurns([bytes], decoder, source.nextTurn)) pieces.push(piece);
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

/** Without either framing header a request has no body. */
function bodyLength(headers: IncomingHttpHeaders, mode: PayloadMode): number | undefined {
  const announced = announcedLength(headers, mode);
  return announced === undefined && !hasBody(headers) ? 0 : announced;
}

/** Whether the headers announce a body. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function readAll(chunks: () => AsyncIterable<Buffer>, length = 0, limit: number): Promise<Buffer> {
  if (length > limit) throw tooLong();
  return collect(chunks(), limit, tooLong, undefined, length);
}

const tooLong = () => s3Error('MaxMessageLengthExceeded');

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;

function algorithmsOf(
  expectations: readonly Expectation[],
  also: ChecksumAlgorithm | undefined,
): ChecksumAlgorithm[] {
  const wanted = expectations.map(({ algorithm }) => algorithm);
  return also === undefined ? wanted : [...wanted, also];
}

/** Verifies a body, as it passes, against everything that the caller announced about it. */
export class PlaintextVerifier {
  readonly #expectations: readonly Expectation[];
  readonly #also: ChecksumAlgorithm | undefined;
  readonly #running = new Map<ChecksumAlgorithm, Checksum>();

  /** @param also a checksum to calculate besides the expected ones */
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
   * Called once, after the last byte. Returns the checksums announced as `x-amz-checksum-…`, and the one requested by
   * `also`.
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

  /** Rejects unannounced checksums: they were not calculated, and must not pass as verified. */
  #refuseStrangers(trailers: ReadonlyMap<string, string>): void {
    const announced = new Set(
      this.#expectations.map(({ source, name }) => (source === 'trailer' ? name : '')),
    );
    for (const name of trailers.keys()) if (!announced.has(name)) throw s3Error('MalformedTrailerError');
  }
}

/** Checksums as response headers. */
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
