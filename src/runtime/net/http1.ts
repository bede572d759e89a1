import { type BodyBounds, type ByteSink, ChunkedBody, HttpError, tooLarge } from './http1-chunked-body.ts';

/** Receives the parts of a response in order. */
export interface ResponseEvents {
  /** The final response's head; interim (1xx) responses precede it. */
  head(head: ResponseHead): void;
  interim?(status: number): void;
  /** A piece of the body: a view of the pushed bytes. */
  data(bytes: Uint8Array): void;
}

const headEnd = Buffer.from('\r\n\r\n');

/** Parses one response, split at any byte. Keeps nothing of the body. */
export class ResponseParser {
  readonly #events: ResponseEvents;
  readonly #bounds: BodyBounds;
  readonly #rules: HeadRules;
  #head: ResponseHead | undefined;
  /** Bytes of an incomplete head. */
  #gathered: Buffer | undefined;
  #headBytes = 0;
  #chunks: ChunkedBody | undefined;
  /** Remaining bytes of the body, or bytes seen so far if only the end of the connection ends it. */
  #left = 0;
  #done = false;

  constructor(events: ResponseEvents, bounds: BodyBounds, rules: HeadRules = {}) {
    this.#events = events;
    this.#bounds = bounds;
    this.#rules = rules;
  }

  /** Undefined until the final response's head has been parsed. */
  get head(): ResponseHead | undefined {
    return this.#head;
  }

  /** Chunks of the body so far. */
  get chunks(): number {
    return this.#chunks?.count ?? 0;
  }

  get done(): boolean {
    return this.#done;
  }

  /**
   * @returns number of bytes that belonged to the response; fewer than pushed only once it is complete
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
   * Call it when the connection has ended.
   * @throws HttpError for an incomplete response
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

/** Reads one response, gathering the body in the sink and nowhere else. Interim (1xx) responses are skipped. */
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

/** How the end of a body is found. */
type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' };

/** Values by lower-case name, each character a byte. Repeated headers are joined by `, `, like a list. */
export type ResponseHeaders = Readonly<Record<string, string>>;

export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly framing: BodyFraming;
  /** Whether the connection can be reused. */
  readonly keepAlive: boolean;
}

export interface HeadRules {
  /** The request was a HEAD, so no body follows, whatever the head announces. */
  readonly bodyless?: boolean;
  /** Whether the body may have a content coding, which the caller then decodes. */
  readonly codings?: boolean;
}

/**
 * Parses status line and headers, without the empty line at their end. Each character of `text` is a byte.
 * @throws HttpError for anything ambiguous
 */
function parseResponseHead(text: string, rules: HeadRules = {}): ResponseHead {
  if (misfit.test(text)) throw new HttpError('the answer has a malformed header');
  const end = endOfLine(text, 0);
  const [, minor, digits] = statusLine.exec(text.slice(0, end)) ?? [];
  if (digits === undefined) throw new HttpError('the answer has no HTTP/1.1 status line');
  const status = Number(digits);
  const headers = parseHeaders(text, end + 2);
  const framing = framingOf(status, headers, rules);
  const tokens = list(headers['connection']);
  const persists = minor === '1' ? !tokens.includes('close') : tokens.includes('keep-alive');
  return { status, headers, framing, keepAlive: persists && framing.kind !== 'until-close' };
}

/** A control character, or an incomplete line end. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const misfit = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: .*)?$/;
const fieldName = /^[\w!#$%&'*+\-.^`|~]+$/;

const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf('\r\n', from);
  return end < 0 ? text.length : end;
};

/** Twice as many as a caller of the proxy may send. Each takes far more than its bytes. */
const maxHeaders = 256;

function parseHeaders(text: string, from: number): ResponseHeaders {
  const headers: Record<string, string> = Object.create(null);
  let count = 0;
  for (let start = from; start < text.length; ) {
    if (++count > maxHeaders) throw new HttpError(`the answer has more than ${maxHeaders} headers`);
    const end = endOfLine(text, start);
    const colon = text.indexOf(':', start);
    if (colon < 0 || colon > end) throw new HttpError('the answer has a malformed header');
    const name = lowerName(text.slice(start, colon));
    const value = trimmed(text, colon + 1, end);
    const former = headers[name];
    headers[name] = former === undefined ? value : `${former}, ${value}`;
    start = end + 2;
  }
  return headers;
}

/** Servers repeat header names in every response, so their strings are reused. */
const known = new Map<string, string>();
const maxKnown = 256;

function lowerName(name: string): string {
  const lower = known.get(name);
  if (lower !== undefined) return lower;
  if (!fieldName.test(name)) throw new HttpError('the answer has a malformed header');
  const made = name.toLowerCase();
  if (known.size < maxKnown && name.length < 64) known.set(name, made);
  return made;
}

/** Strips only blanks and tabs. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

const list = (value: string | undefined): string[] =>
  value === undefined ? [] : value.split(',').map((item) => item.trim().toLowerCase());

function framingOf(status: number, headers: ResponseHeaders, rules: HeadRules): BodyFraming {
  if (!rules.codings && list(headers['content-encoding']).some((coding) => coding !== 'identity')) {
    throw new HttpError('the answer has a content coding that was not requested');
  }
  const coding = headers['transfer-encoding'];
  const length = lengthFrom(headers['content-length']);
  if (rules.bodyless || status < 200 || status === 204 || status === 304) return { kind: 'none' };
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked' || length !== undefined) {
      throw new HttpError('the length of the answer is ambiguous');
    }
    return { kind: 'chunked' };
  }
  return length === undefined ? { kind: 'until-close' } : { kind: 'length', length };
}

/** A single number. A list is rejected even if its items are equal: RFC 9112 leaves that to the reader. */
function lengthFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new HttpError('the answer has no usable length');
  return Number(text);
}

export interface RequestHead {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  /** With the port unless it is the default. */
  readonly host: string;
  /** A value given as bytes is copied and never becomes a string. */
  readonly headers: readonly (readonly [name: string, value: string | Uint8Array])[];
}

/**
 * Appends one request to the sink, copying the parts of the body.
 * @throws HttpError for a part that would break out of its line
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
