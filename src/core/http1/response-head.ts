import { HttpError } from './http-error.ts';

/** How the end of a body is found. */
export type BodyFraming =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' };

export interface ResponseHead {
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
export function parseResponseHead(text: string): ResponseHead {
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
