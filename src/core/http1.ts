import { type BodyBounds, type ByteSink, ChunkedBody, HttpError, tooLarge } from './http1-chunked-body.ts';

const headEnd = Buffer.from('\r\n\r\n');

/**
 * Reads one answer, wherever its bytes are split; interim (1xx) answers are passed over. Head and then body
 * are gathered in the sink and nowhere else; at the end it holds the body alone.
 */
export class ResponseReader {
  readonly #sink: ByteSink;
  readonly #bounds: BodyBounds;
  #head: ResponseHead | undefined;
  #headBytes = 0;
  #chunks: ChunkedBody | undefined;
  #done = false;

  constructor(sink: ByteSink, bounds: BodyBounds) {
    this.#sink = sink;
    this.#bounds = bounds;
  }

  /** Undefined until the final answer's head is there. */
  get head(): ResponseHead | undefined {
    return this.#head;
  }

  get done(): boolean {
    return this.#done;
  }

  /**
   * @returns how many of the bytes belonged to the answer: fewer than all only when it is done
   * @throws HttpError
   */
  push(bytes: Uint8Array): number {
    let at = 0;
    while (at < bytes.length && !this.#done) {
      at +=
        this.#head === undefined ? this.#pushHead(bytes.subarray(at)) : this.#pushBody(bytes.subarray(at));
    }
    return at;
  }

  /**
   * To be called when the connection has ended.
   * @throws HttpError where the answer is not complete
   */
  end(): void {
    if (this.#head?.framing.kind === 'until-close') this.#done = true;
    if (!this.#done) throw new HttpError('the connection ended before the answer did');
  }

  #pushHead(bytes: Uint8Array): number {
    const before = this.#sink.bytes.length;
    this.#sink.append(bytes);
    const gathered = view(this.#sink.bytes);
    const found = gathered.indexOf(headEnd, Math.max(0, before - 3));
    const length = found < 0 ? gathered.length : found + headEnd.length;
    if (this.#headBytes + length > this.#bounds.maxHead) {
      throw new HttpError(`the head of the answer is larger than ${this.#bounds.maxHead} bytes`);
    }
    if (found < 0) return bytes.length;
    const head = parseResponseHead(gathered.toString('latin1', 0, found));
    this.#headBytes += length;
    this.#sink.clear();
    if (head.status >= 200) this.#begin(head);
    else if (head.status === 101) throw new HttpError('the answer changes the protocol');
    return length - before;
  }

  #begin(head: ResponseHead): void {
    const { framing } = head;
    this.#head = head;
    if (framing.kind === 'length') {
      if (framing.length > this.#bounds.maxBody) throw tooLarge(this.#bounds);
      this.#sink.reserve(framing.length);
    }
    if (framing.kind === 'chunked') this.#chunks = new ChunkedBody(this.#sink, this.#bounds);
    this.#done = framing.kind === 'none' || (framing.kind === 'length' && framing.length === 0);
  }

  #pushBody(bytes: Uint8Array): number {
    if (this.#chunks === undefined) return this.#pushPlain(bytes);
    const taken = this.#chunks.push(bytes);
    this.#done = this.#chunks.done;
    return taken;
  }

  #pushPlain(bytes: Uint8Array): number {
    const framing = this.#head?.framing;
    const length = framing?.kind === 'length' ? framing.length : Number.POSITIVE_INFINITY;
    const part = bytes.subarray(0, length - this.#sink.bytes.length);
    if (this.#sink.bytes.length + part.length > this.#bounds.maxBody) throw tooLarge(this.#bounds);
    this.#sink.append(part);
    this.#done = this.#sink.bytes.length === length;
    return part.length;
  }
}

const view = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

/** How the end of a body is found. */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' };

interface ResponseHead {
  readonly status: number;
  readonly framing: BodyFraming;
  /** Whether the connection takes another request afterwards. */
  readonly keepAlive: boolean;
  readonly location: string | undefined;
}

/**
 * Reads status line and headers, without the empty line at their end.
 * @throws HttpError for what two readers could understand differently
 */
function parseResponseHead(text: string): ResponseHead {
  const [statusLine = '', ...lines] = text.split('\r\n');
  const [, minor, digits] =
    /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/.exec(statusLine) ?? [];
  if (digits === undefined) throw new HttpError('the answer has no HTTP/1.1 status line');
  const headers = parseHeaders(lines);
  const status = Number(digits);
  const framing = framingOf(status, headers);
  const tokens = list(headers, 'connection');
  const persists = minor === '1' ? !tokens.includes('close') : tokens.includes('keep-alive');
  const keepAlive = persists && framing.kind !== 'until-close';
  return { status, framing, keepAlive, location: headers.get('location')?.[0] };
}

type Headers = ReadonlyMap<string, readonly string[]>;

function parseHeaders(lines: readonly string[]): Headers {
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, value] = /^([\w!#$%&'*+\-.^`|~]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new HttpError('the answer has a malformed header');
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), value.trim()]);
  }
  return headers;
}

const list = (headers: Headers, name: string): string[] =>
  (headers.get(name) ?? []).flatMap((value) => value.split(',').map((item) => item.trim().toLowerCase()));

function framingOf(status: number, headers: Headers): BodyFraming {
  if (list(headers, 'content-encoding').some((coding) => coding !== 'identity')) {
    throw new HttpError('the answer has a content coding, which was not asked for');
  }
  if (status < 200 || status === 204 || status === 304) return { kind: 'none' };
  const lengths = new Set(list(headers, 'content-length'));
  const codings = list(headers, 'transfer-encoding');
  if (codings.length > 0) {
    if (codings.join() !== 'chunked' || lengths.size > 0) {
      throw new HttpError('the answer has no single way to find its end');
    }
    return { kind: 'chunked' };
  }
  return lengths.size === 0 ? { kind: 'until-close' } : { kind: 'length', length: lengthFrom(lengths) };
}

function lengthFrom(lengths: ReadonlySet<string>): number {
  const [only = ''] = lengths;
  if (lengths.size > 1 || !/^\d{1,15}$/.test(only)) throw new HttpError('the answer has no usable length');
  return Number(only);
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
