import { HttpError } from './http1-chunked-body.ts';

/** How the end of a body is found. */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' };

/** Values by name in lower case, each character a byte. Repeated headers are joined by `, `, as a list is. */
export type ResponseHeaders = Readonly<Record<string, string>>;

export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly framing: BodyFraming;
  /** Whether the connection takes another request afterwards. */
  readonly keepAlive: boolean;
}

export interface HeadRules {
  /** The request was a HEAD: no body follows, whatever the head announces. */
  readonly bodyless?: boolean;
  /** Whether a body may have a content coding, which is then the caller's to undo. */
  readonly codings?: boolean;
}

/**
 * Reads status line and headers, without the empty line at their end. `text` has a character for each byte.
 * @throws HttpError for what two readers could understand differently
 */
export function parseResponseHead(text: string, rules: HeadRules = {}): ResponseHead {
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

/** A control character, or half of the end of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const misfit = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: .*)?$/;
const fieldName = /^[\w!#$%&'*+\-.^`|~]+$/;

const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf('\r\n', from);
  return end < 0 ? text.length : end;
};

function parseHeaders(text: string, from: number): ResponseHeaders {
  const headers: Record<string, string> = Object.create(null);
  for (let start = from; start < text.length; ) {
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

/** Servers repeat their names with each answer. */
const known = new Map<string, string>();
const mostKnown = 256;

function lowerName(name: string): string {
  const lower = known.get(name);
  if (lower !== undefined) return lower;
  if (!fieldName.test(name)) throw new HttpError('the answer has a malformed header');
  const made = name.toLowerCase();
  if (known.size < mostKnown && name.length < 64) known.set(name, made);
  return made;
}

/** Without blanks and tabs around it, and nothing else. */
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
    throw new HttpError('the answer has a content coding, which was not asked for');
  }
  const coding = headers['transfer-encoding'];
  const length = lengthFrom(headers['content-length']);
  if (rules.bodyless || status < 200 || status === 204 || status === 304) return { kind: 'none' };
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked' || length !== undefined) {
      throw new HttpError('the answer has no single way to find its end');
    }
    return { kind: 'chunked' };
  }
  return length === undefined ? { kind: 'until-close' } : { kind: 'length', length };
}

/** One number. A list is refused, of equal ones too: RFC 9112 leaves that to the reader. */
function lengthFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new HttpError('the answer has no usable length');
  return Number(text);
}
