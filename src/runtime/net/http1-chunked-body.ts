const carriageReturn = 0x0d;
const lineFeed = 0x0a;
const maxSizeDigits = 8;

export interface BodyBounds {
  readonly maxBody: number;
  /** Bound on chunk extensions and trailers. */
  readonly maxHead: number;
}

type State =
  | 'size'
  | 'extension'
  | 'size-end'
  | 'data'
  | 'data-return'
  | 'data-end'
  | 'trailer-start'
  | 'trailer'
  | 'trailer-end'
  | 'last-end'
  | 'done';

/** Pieces of data below it are moved together. */
const smallPiece = 1024;

/** Decodes a chunked body, split at any byte. Extensions and trailers are ignored. */
export class ChunkedBody {
  readonly #take: (bytes: Uint8Array) => void;
  readonly #bounds: BodyBounds;
  #state: State = 'size';
  #digits = 0;
  /** Remaining bytes of this chunk. */
  #size = 0;
  #passedOver = 0;
  /** Bytes of data so far. */
  #taken = 0;
  #count = 0;
  /** Data among the pushed bytes that was not delivered yet. */
  #start = 0;
  #end = 0;

  /** @param take receives the data piece by piece, as views of the pushed bytes */
  constructor(take: (bytes: Uint8Array) => void, bounds: BodyBounds) {
    this.#take = take;
    this.#bounds = bounds;
  }

  /** Chunks so far. */
  get count(): number {
    return this.#count;
  }

  get done(): boolean {
    return this.#state === 'done';
  }

  /**
   * @param bytes small chunks of data are moved together in there, over the framing between them: a sender may cut a body
   *   into single bytes, and nothing is made of each
   * @returns number of bytes that belonged to the body; fewer than pushed only once it is complete
   */
  push(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && !this.done) {
      if (this.#state === 'data') at = this.#data(bytes, at);
      else this.#state = this.#next(bytes[at++] as number);
    }
    this.#deliver(bytes);
    return at;
  }

  /** @returns where the data ends */
  #data(bytes: Uint8Array, at: number): number {
    const end = Math.min(bytes.length, at + this.#size);
    if (end - at < smallPiece && this.#end > this.#start) bytes.copyWithin(this.#end, at, end);
    else {
      this.#deliver(bytes);
      this.#start = this.#end = at;
    }
    this.#end += end - at;
    this.#taken += end - at;
    this.#size -= end - at;
    if (this.#size === 0) this.#state = 'data-return';
    return end;
  }

  #deliver(bytes: Uint8Array): void {
    const part = bytes.subarray(this.#start, this.#end);
    this.#start = this.#end = 0;
    if (part.length > 0) this.#take(part);
  }

  #next(byte: number): State {
    switch (this.#state) {
      case 'size':
        return this.#sizeByte(byte);
      case 'extension':
        return byte === carriageReturn ? 'size-end' : this.#passOver(byte, 'extension');
      case 'size-end':
        return this.#endOfLine(byte, this.#size === 0 ? 'trailer-start' : 'data');
      case 'data-return':
        return expect(byte, carriageReturn, 'data-end');
      case 'data-end':
        this.#digits = 0;
        this.#count++;
        return expect(byte, lineFeed, 'size');
      case 'trailer-start':
        return byte === carriageReturn ? 'last-end' : this.#passOver(byte, 'trailer');
      case 'trailer':
        return byte === carriageReturn ? 'trailer-end' : this.#passOver(byte, 'trailer');
      case 'trailer-end':
        return expect(byte, lineFeed, 'trailer-start');
      default:
        return expect(byte, lineFeed, 'done');
    }
  }

  #sizeByte(byte: number): State {
    const digit = Number.parseInt(String.fromCharCode(byte), 16);
    if (!Number.isNaN(digit)) {
      this.#size = this.#size * 16 + digit;
      if (++this.#digits > maxSizeDigits) throw new HttpError('the answer has a chunk that is too large');
      return 'size';
    }
    if (this.#digits === 0) throw new HttpError('the answer has a chunk without a size');
    if (byte === carriageReturn) return 'size-end';
    if (byte !== 0x3b && byte !== 0x20 && byte !== 0x09)
      throw new HttpError('the answer has a malformed chunk');
    return this.#passOver(byte, 'extension');
  }

  #endOfLine(byte: number, next: State): State {
    if (this.#taken + this.#size > this.#bounds.maxBody) throw tooLarge(this.#bounds);
    return expect(byte, lineFeed, next);
  }

  #passOver(byte: number, next: State): State {
    if (byte === lineFeed || ++this.#passedOver > this.#bounds.maxHead) {
      throw new HttpError('the answer has malformed or too large chunk extensions or trailers');
    }
    return next;
  }
}

export const tooLarge = ({ maxBody }: BodyBounds): HttpError =>
  new HttpError(`the answer is larger than ${maxBody} bytes`);

function expect(byte: number, wanted: number, next: State): State {
  if (byte !== wanted) throw new HttpError('the answer has a malformed chunk');
  return next;
}

/** Growable memory that its owner can clear, so that the caller decides where secrets are kept. */
export interface ByteSink {
  /** The appended bytes, in place; appending more may move them. */
  readonly bytes: Uint8Array;
  append(bytes: Uint8Array): void;
  /** Makes room for this many bytes in total, to avoid growing in steps. */
  reserve(length: number): void;
  /** Zeroes the appended bytes and starts over. */
  clear(): void;
}

/** Not a valid HTTP/1.1 message. The text never quotes the bytes. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
}
