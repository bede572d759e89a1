import { ChunkLine } from './chunk-line.ts';
import { type ChunkHeader, parseChunkHeader, parseTrailerLine } from './chunk-syntax.ts';
import { s3Error } from './error-catalog.ts';

/** Follows a decoder, so that it can check signatures; throws S3Error to refuse. */
export interface ChunkObserver {
  /** A chunk begins; `signature` is 64 hexadecimal digits when the body is signed. Size 0 is the last chunk. */
  chunkStart(size: number, signature: string | undefined): void;
  chunkData(data: Buffer): void;
  chunkEnd(): void;
  /** Once, after the last chunk; `signature` is that of `x-amz-trailer-signature`. */
  trailers(trailers: ReadonlyMap<string, string>, signature: string | undefined): void;
}

export interface ChunkDecoderOptions {
  signed: boolean;
  trailer: boolean;
  /** Plaintext bytes announced; another number is refused with IncompleteBody. */
  decodedLength?: number | undefined;
  observer?: ChunkObserver | undefined;
}

type State = 'size' | 'data' | 'data-end' | 'trailer' | 'done';

const maxTrailers = 16;
const trailerSignature = 'x-amz-trailer-signature';

/**
 * Decodes an `aws-chunked` body: `size-in-hex[;chunk-signature=…]\r\n data \r\n … 0 … \r\n [trailers] \r\n`.
 * Trailers are accepted only where announced. @throws S3Error InvalidRequest, IncompleteBody, MalformedTrailerError
 */
export class ChunkDecoder {
  #state: State = 'size';
  #left = 0;
  #decoded = 0;
  readonly #line = new ChunkLine();
  readonly #trailers = new Map<string, string>();
  readonly #options: ChunkDecoderOptions;

  constructor(options: ChunkDecoderOptions) {
    this.#options = options;
  }

  /** The whole body was seen, trailers included. */
  get done(): boolean {
    return this.#state === 'done';
  }

  /** Lower-case names, without the trailer signature; complete when `done`. */
  get trailers(): ReadonlyMap<string, string> {
    return this.#trailers;
  }

  /** The plaintext in `input`, as slices that share its memory. */
  push(input: Buffer): Buffer[] {
    const slices: Buffer[] = [];
    let at = 0;
    while (at < input.length) {
      if (this.#state === 'data') at = this.#takeData(input, at, slices);
      else at = this.#takeLine(input, at);
    }
    return slices;
  }

  /** The body has ended. @throws S3Error IncompleteBody when it was cut or is not as long as announced */
  end(): void {
    if (!this.done) throw s3Error('IncompleteBody', 'The chunked body ended early.');
  }

  #takeData(input: Buffer, at: number, slices: Buffer[]): number {
    const slice = input.subarray(at, at + this.#left);
    this.#left -= slice.length;
    this.#options.observer?.chunkData(slice);
    slices.push(slice);
    if (this.#left === 0) this.#state = 'data-end';
    return at + slice.length;
  }

  #takeLine(input: Buffer, at: number): number {
    if (this.#state === 'done') throw s3Error('InvalidRequest', 'Bytes follow the end of the chunked body.');
    const next = this.#line.take(input, at);
    if (this.#line.complete) this.#onLine(this.#line.reset());
    return next;
  }

  #onLine(line: string): void {
    if (this.#state === 'size') this.#startChunk(parseChunkHeader(line, this.#options.signed));
    else if (this.#state === 'trailer') this.#onTrailer(line);
    else this.#endChunk(line);
  }

  #startChunk({ size, signature }: ChunkHeader): void {
    this.#decoded += size;
    this.#checkLength(size === 0);
    this.#options.observer?.chunkStart(size, signature);
    this.#left = size;
    this.#state = size === 0 ? 'trailer' : 'data';
    if (size === 0) this.#options.observer?.chunkEnd();
  }

  #checkLength(last: boolean): void {
    const { decodedLength } = this.#options;
    if (decodedLength === undefined) return;
    if (this.#decoded > decodedLength || (last && this.#decoded < decodedLength)) {
      throw s3Error(
        'IncompleteBody',
        'The chunked body is not as long as x-amz-decoded-content-length says.',
      );
    }
  }

  #endChunk(line: string): void {
    if (line !== '') throw s3Error('InvalidRequest', 'A chunk is longer than its size says.');
    this.#options.observer?.chunkEnd();
    this.#state = 'size';
  }

  #onTrailer(line: string): void {
    if (line === '') return this.#finish();
    if (!this.#options.trailer)
      throw s3Error('MalformedTrailerError', 'The request did not announce trailers.');
    const [name, value] = parseTrailerLine(line);
    if (this.#trailers.has(name) || this.#trailers.size >= maxTrailers)
      throw s3Error('MalformedTrailerError');
    this.#trailers.set(name, value);
  }

  #finish(): void {
    const signature = this.#trailers.get(trailerSignature);
    this.#trailers.delete(trailerSignature);
    this.#state = 'done';
    if (this.#options.trailer) this.#options.observer?.trailers(this.#trailers, signature);
  }
}
