import type { IncomingHttpHeaders } from 'node:http';
import type { ChecksumAlgorithm, Checksums } from './checksum.ts';
import { ChunkDecoder } from './chunk-decoder.ts';
import { ChunkSignatureVerifier } from './chunk-signature.ts';
import { s3Error } from './error-catalog.ts';
import { type Expectation, expectations } from './expectations.ts';
import { JoinedPieces } from './joined-pieces.ts';
import { announcedLength, type PayloadMode, payloadMode } from './payload.ts';
import { checksumHeaders, PlaintextVerifier } from './plaintext-verifier.ts';
import type { VerifiedSignature } from './sigv4.ts';

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
  /** Of the body, once the iteration has ended: the announced ones, found right, and the one that was asked for. */
  checksums(): Checksums;
  /** The whole body, checked. @throws S3Error when it is longer than `limit` bytes. */
  read(limit: number): Promise<Buffer>;
}

export interface PayloadSource {
  readonly headers: IncomingHttpHeaders;
  /** Undefined where senders are not authenticated: chunk signatures are passed over then. */
  readonly signature: VerifiedSignature | undefined;
  /** The body as it comes from the wire; asked for once. */
  readonly raw: () => AsyncIterable<Buffer>;
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
  return {
    length,
    chunks,
    checksums: () => found,
    read: (limit) => readAll(chunks, length, limit),
  };
}

interface Checks {
  readonly mode: PayloadMode;
  readonly length: number | undefined;
  readonly expected: readonly Expectation[];
  readonly also: ChecksumAlgorithm | undefined;
  readonly onEnd: (checksums: Checksums) => void;
}

async function* verified(source: PayloadSource, checks: Checks): AsyncGenerator<Buffer> {
  const { mode, length, expected, also, onEnd } = checks;
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
