import { s3Error } from './error.ts';

/** Observes a decoder to check signatures; throws an S3Error to reject the body. */
export interface ChunkObserver {
  /** Start of a chunk; `signature` is 64 hexadecimal digits if the body is signed. Size 0 is the last chunk. */
  chunkStart(size: number, signature: string | undefined): void;
  chunkData(data: Buffer): void;
  chunkEnd(): void;
  /** Called once, after the last chunk; `signature` is from `x-amz-trailer-signature`. */
  trailers(trailers: ReadonlyMap<string, string>, signature: string | undefined): void;
}

export interface ChunkDecoderOptions {
  signed: boolean;
  trailer: boolean;
  /** Announced number of plaintext bytes; any other number is rejected with IncompleteBody. */
  decodedLength?: number | undefined;
  observer?: ChunkObserver | undefined;
}

type State = 'size' | 'data' | 'data-end' | 'trailer' | 'done';

const maxTrailers = 16;
/** Slices of one input that share its memory. */
const maxSlices = 16;
/** For the plaintext behind them, each block four times as large as the one before. */
const blockBytes = { first: 1024, largest: 16 * 1024 };
const trailerSignature = 'x-amz-trailer-signature';

/** Collects one CRLF-terminated line of bounded length across pieces. A lone CR is rejected. */
class ChunkLine {
  #text = '';
  #sawCr = false;
  #complete = false;

  get complete(): boolean {
    return this.#complete;
  }

  /** Takes the bytes of `input` from `at` that belong to the line; returns the offset where it stopped. */
  take(input: Buffer, at: number): number {
    if (this.#sawCr) return this.#takeLf(input, at);
    const cr = input.indexOf(CR, at);
    const end = cr < 0 ? input.length : cr;
    if (this.#text.length + end - at > maxLine) throw malformed();
    this.#text += input.toString('latin1', at, end);
    if (cr < 0) return end;
    this.#sawCr = true;
    return cr + 1;
  }

  /** Returns the line without its CRLF and prepares for the next. */
  reset(): string {
    const line = this.#text;
    this.#text = '';
    this.#sawCr = false;
    this.#complete = false;
    return line;
  }

  #takeLf(input: Buffer, at: number): number {
    if (input[at] !== LF) throw malformed();
    this.#complete = true;
    return at + 1;
  }
}

/**
 * Decodes an `aws-chunked` body: `size-in-hex[;chunk-signature=…]\r\n data \r\n … 0 … \r\n [trailers] \r\n`. Only
 * announced trailers are accepted.
 * @throws S3Error IncompleteBody, MalformedTrailerError, in the words of S3
 */
export class ChunkDecoder {
  #state: State = 'size';
  #left = 0;
  #decoded = 0;
  #chunks = 0;
  #rest: Buffer = Buffer.alloc(0);
  readonly #line = new ChunkLine();
  readonly #trailers = new Map<string, string>();
  readonly #options: ChunkDecoderOptions;

  constructor(options: ChunkDecoderOptions) {
    this.#options = options;
  }

  /** True after the whole body, including trailers. */
  get done(): boolean {
    return this.#state === 'done';
  }

  /** Whether somebody looks at each chunk. */
  get isObserved(): boolean {
    return this.#options.observer !== undefined;
  }

  /** Number of chunks so far. */
  get chunks(): number {
    return this.#chunks;
  }

  /** What the last `push` left of its input. */
  get rest(): Buffer {
    return this.#rest;
  }

  /** Lower-case names, without the trailer signature; complete when `done`. */
  get trailers(): ReadonlyMap<string, string> {
    return this.#trailers;
  }

  /**
   * The plaintext in `input`: a few slices that share its memory, and the rest copied together, because senders may cut
   * a body into chunks of one byte.
   * @param maxChunks beyond which nothing more is read: it is left in `rest`
   */
  push(input: Buffer, maxChunks = Number.POSITIVE_INFINITY): Buffer[] {
    const pieces = new Pieces(input);
    const last = this.#chunks + maxChunks;
    let at = 0;
    while (at < input.length && (this.#chunks < last || this.#state !== 'size')) {
      if (this.#state !== 'data') at = this.#takeLine(input, at);
      else {
        const end = Math.min(input.length, at + this.#left);
        this.#takeData(input, at, end);
        pieces.add(at, end);
        at = end;
      }
    }
    this.#rest = input.subarray(at);
    return pieces.all();
  }

  /**
   * Call it at the end of the body. @throws S3Error IncompleteBody if the body was truncated or has another length than
   * announced
   */
  end(): void {
    if (!this.done) throw malformed();
  }

  #takeData(input: Buffer, at: number, end: number): void {
    this.#left -= end - at;
    this.#options.observer?.chunkData(input.subarray(at, end));
    if (this.#left === 0) this.#state = 'data-end';
  }

  #takeLine(input: Buffer, at: number): number {
    if (this.#state === 'done') throw malformed();
    const next = this.#line.take(input, at);
    if (this.#line.complete) this.#onLine(this.#line.reset());
    return next;
  }

  #onLine(line: string): void {
    if (this.#state === 'size') this.#onHeader(line);
    else if (this.#state === 'trailer') this.#onTrailer(line);
    else this.#endChunk(line);
  }

  /** `size-in-hex`, with `;chunk-signature=` if the body is signed. @throws S3Error IncompleteBody */
  #onHeader(line: string): void {
    const { signed } = this.#options;
    // the usual one of an unsigned body, of which a sender may make one for each byte: nothing is made of it
    if (!signed && size.test(line)) return this.#startChunk(Number.parseInt(line, 16), undefined);
    const [, digits, signature] = header.exec(line) ?? [];
    if (digits === undefined || (signed && signature === undefined)) throw malformed();
    this.#startChunk(Number.parseInt(digits, 16), signed ? signature : undefined);
  }

  #startChunk(size: number, signature: string | undefined): void {
    this.#decoded += size;
    this.#chunks++;
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
      throw s3Error('IncompleteBody');
    }
  }

  #endChunk(line: string): void {
    if (line !== '') throw malformed();
    this.#options.observer?.chunkEnd();
    this.#state = 'size';
  }

  #onTrailer(line: string): void {
    if (line === '') return this.#finish();
    if (!this.#options.trailer) throw s3Error('MalformedTrailerError');
    const [name, value] = this.#parseTrailer(line);
    if (this.#trailers.has(name) || this.#trailers.size >= maxTrailers)
      throw s3Error('MalformedTrailerError');
    this.#trailers.set(name, value);
  }

  /** After the trailer of a signed body only its signature may follow; anything else is broken framing. */
  #parseTrailer(line: string): [name: string, value: string] {
    const parsed = parseTrailerLine(line);
    if (parsed !== undefined) return parsed;
    throw this.#options.signed && this.#trailers.size > 0 ? malformed() : s3Error('MalformedTrailerError');
  }

  #finish(): void {
    const signature = this.#trailers.get(trailerSignature);
    this.#trailers.delete(trailerSignature);
    if (signature !== undefined && !signatureForm.test(signature)) throw malformed();
    this.#state = 'done';
    if (this.#options.trailer) this.#options.observer?.trailers(this.#trailers, signature);
  }
}

/** The plaintext in an input: the first slices share its memory, the rest is copied together into blocks. */
class Pieces {
  readonly #input: Buffer;
  readonly #pieces: Buffer[] = [];
  #block: Buffer | undefined;
  #blockBytes = blockBytes.first;
  #filled = 0;

  constructor(input: Buffer) {
    this.#input = input;
  }

  add(start: number, end: number): void {
    if (this.#pieces.length < maxSlices && this.#block === undefined) {
      this.#pieces.push(this.#input.subarray(start, end));
      return;
    }
    for (let at = start; at < end; ) {
      this.#block ??= Buffer.allocUnsafeSlow(this.#blockBytes);
      const copied = this.#input.copy(this.#block, this.#filled, at, end);
      at += copied;
      this.#filled += copied;
      if (this.#filled === this.#blockBytes) this.#endBlock();
    }
  }

  all(): Buffer[] {
    this.#endBlock();
    return this.#pieces;
  }

  #endBlock(): void {
    if (this.#block !== undefined) this.#pieces.push(this.#block.subarray(0, this.#filled));
    this.#block = undefined;
    this.#blockBytes = Math.min(4 * this.#blockBytes, blockBytes.largest);
    this.#filled = 0;
  }
}

/** Eight digits: up to 4 GiB − 1, far above any SDK's chunk. */
const size = /^[0-9a-fA-F]{1,8}$/;
const header = /^([0-9a-fA-F]{1,8})(?:;chunk-signature=([0-9a-f]{64}))?$/;

const signatureForm = /^[0-9a-f]{64}$/;
const trailer = /^(x-amz-[a-z0-9-]{1,64}):[ \t]*([\x21-\x7e]{0,256})[ \t]*\n?$/i;

/** Lower-case name, and value; minio-go inserts a line feed before the CRLF. */
function parseTrailerLine(line: string): [name: string, value: string] | undefined {
  const [, name, value] = trailer.exec(line) ?? [];
  return name === undefined || value === undefined ? undefined : [name.toLowerCase(), value];
}

const maxLine = 1024;
const CR = 13;
const LF = 10;

/** S3's error for any body without valid aws-chunked framing, truncated or not. */
function malformed() {
  return s3Error('IncompleteBody', 'The request body terminated unexpectedly');
}
