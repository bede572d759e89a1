import { type BodyBounds, type ByteSink, ChunkedBody, HttpError, tooLarge } from './http1-chunked-body.ts';
import { type HeadRules, parseResponseHead, type ResponseHead } from './http1-head.ts';

/** Told what a response holds, in order. */
export interface ResponseEvents {
  /** The final response's head. Interim (1xx) responses come before it. */
  head(head: ResponseHead): void;
  interim?(status: number): void;
  /** A piece of the body: a view of what was pushed. */
  data(bytes: Uint8Array): void;
}

const headEnd = Buffer.from('\r\n\r\n');

/** Takes one response apart, wherever its bytes are split. Nothing of a body is kept. */
export class ResponseParser {
  readonly #events: ResponseEvents;
  readonly #bounds: BodyBounds;
  readonly #rules: HeadRules;
  #head: ResponseHead | undefined;
  /** Of a head that has not come whole. */
  #gathered: Buffer | undefined;
  #headBytes = 0;
  #chunks: ChunkedBody | undefined;
  /** Bytes of the body still to come, or seen so far where only the end of the connection ends it. */
  #left = 0;
  #done = false;

  constructor(events: ResponseEvents, bounds: BodyBounds, rules: HeadRules = {}) {
    this.#events = events;
    this.#bounds = bounds;
    this.#rules = rules;
  }

  /** Undefined until the final response's head is there. */
  get head(): ResponseHead | undefined {
    return this.#head;
  }

  get done(): boolean {
    return this.#done;
  }

  /**
   * @returns how many of the bytes belonged to the response: fewer than all only when it is done
   * @throws HttpError
   */
  push(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && !this.#done) {
      const rest = at === 0 ? bytes : bytes.subarray(at);
      at += this.#head === undefined ? this.#pushHead(rest) : this.#pushBody(rest);
    }
    return at;
  }

  /**
   * To be called when the connection has ended.
   * @throws HttpError where the response is not complete
   */
  end(): void {
    if (this.#head?.framing.kind === 'until-close') this.#done = true;
    if (!this.#done) throw new HttpError('the connection ended before the answer did');
  }

  #pushHead(bytes: Uint8Array): number {
    const before = this.#gathered?.length ?? 0;
    const text = before === 0 ? view(bytes) : Buffer.concat([this.#gathered as Buffer, bytes]);
    const found = text.indexOf(headEnd, Math.max(0, before - 3));
    const length = found < 0 ? text.length : found + headEnd.length;
    if (this.#headBytes + length > this.#bounds.maxHead) {
      throw new HttpError(`the head of the answer is larger than ${this.#bounds.maxHead} bytes`);
    }
    if (found < 0) {
      this.#gathered = before === 0 ? Buffer.from(text) : text;
      return bytes.length;
    }
    this.#gathered = undefined;
    this.#headBytes += length;
    this.#take(parseResponseHead(text.toString('latin1', 0, found), this.#rules));
    return length - before;
  }

  #take(head: ResponseHead): void {
    if (head.status === 101) throw new HttpError('the answer changes the protocol');
    if (head.status < 200) return this.#events.interim?.(head.status);
    const { framing } = head;
    if (framing.kind === 'length' && framing.length > this.#bounds.maxBody) throw tooLarge(this.#bounds);
    this.#head = head;
    if (framing.kind === 'chunked')
      this.#chunks = new ChunkedBody((data) => this.#events.data(data), this.#bounds);
    if (framing.kind === 'length') this.#left = framing.length;
    this.#done = framing.kind === 'none' || (framing.kind === 'length' && framing.length === 0);
    this.#events.head(head);
  }

  #pushBody(bytes: Uint8Array): number {
    if (this.#chunks !== undefined) {
      const taken = this.#chunks.push(bytes);
      this.#done = this.#chunks.done;
      return taken;
    }
    return this.#head?.framing.kind === 'length' ? this.#pushLength(bytes) : this.#pushUntilClose(bytes);
  }

  #pushLength(bytes: Uint8Array): number {
    const part = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left);
    this.#left -= part.length;
    this.#done = this.#left === 0;
    this.#events.data(part);
    return part.length;
  }

  #pushUntilClose(bytes: Uint8Array): number {
    this.#left += bytes.length;
    if (this.#left > this.#bounds.maxBody) throw tooLarge(this.#bounds);
    this.#events.data(bytes);
    return bytes.length;
  }
}

const view = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** Reads one response whose body is gathered in the sink and nowhere else. Interim (1xx) responses are passed over. */
export class ResponseReader extends ResponseParser {
  constructor(sink: ByteSink, bounds: BodyBounds) {
    super(
      {
        head: ({ framing }) => {
          if (framing.kind === 'length') sink.reserve(framing.length);
        },
        data: (bytes) => sink.append(bytes),
      },
      bounds,
    );
  }
}

export interface RequestHead {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  /** With the port where it is not the default. */
  readonly host: string;
  /** A value in bytes is copied and never becomes a string. */
  readonly headers: readonly (readonly [name: string, value: string | Uint8Array])[];
}

/**
 * Appends one request to the sink. The parts of the body are copied.
 * @throws HttpError where a part would break out of its line
 */
export function writeRequest(
  head: RequestHead,
  body: readonly Uint8Array[] | undefined,
  sink: ByteSink,
): void {
  const { method, path, host, headers } = head;
  for (const part of [method, path, host]) requireUnbroken(part, /^[\x21-\x7e]+$/);
  sink.append(ascii(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n`));
  for (const [name, value] of headers) writeHeader(name, value, sink);
  if (body !== undefined) sink.append(ascii(`Content-Length: ${lengthOf(body)}\r\n`));
  sink.append(lineEnd);
  for (const part of body ?? []) sink.append(part);
}

const lineEnd = Buffer.from('\r\n');
const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');
const lengthOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0);

function writeHeader(name: string, value: string | Uint8Array, sink: ByteSink): void {
  requireUnbroken(name, /^[A-Za-z-]+$/);
  if (typeof value === 'string') requireUnbroken(value, /^[\x20-\x7e]*$/);
  else if (!value.every((byte) => byte > 0x20 && byte < 0x7f))
    throw new HttpError(`unusable bytes for ${name}`);
  sink.append(ascii(`${name}: `));
  sink.append(typeof value === 'string' ? ascii(value) : value);
  sink.append(lineEnd);
}

function requireUnbroken(part: string, shape: RegExp): void {
  if (!shape.test(part)) throw new HttpError('a request has a line break or a blank where none may be');
}
