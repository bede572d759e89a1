import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { algorithm } from './sigv4-key.ts';
import { encodeComponent, encodeKey } from './uri.ts';

/** What a signature is over. */
export interface CanonicalParts {
  readonly method: string;
  /** Path as it enters the canonical request: percent-encoded. */
  readonly path: string;
  /** Query as it enters the canonical request. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** Lower case, sorted. */
  readonly signedHeaders: readonly string[];
  /** A SHA-256 in hexadecimal, or a word such as UNSIGNED-PAYLOAD. */
  readonly payload: string;
}

export function canonicalRequest(parts: CanonicalParts): string {
  const headers = parts.signedHeaders
    .map((name) => `${name}:${canonicalValue(parts.headers[name])}\n`)
    .join('');
  return `${parts.method}\n${parts.path}\n${parts.query}\n${headers}\n${parts.signedHeaders.join(';')}\n${parts.payload}`;
}

/** Trimmed, runs of blanks folded. Not by `trim` and `\s`: they take the byte A0, which UTF-8 text may hold, for a blank. */
function canonicalValue(value: string | readonly string[] | undefined): string {
  const text = typeof value === 'string' ? value : (value ?? []).join(',');
  return text.replace(/[ \t]+/g, ' ').replace(/^ | $/g, '');
}

/** The path as SigV4 wants it for S3: decoded and encoded once, never normalised. */
export function canonicalPath(rawPath: string): string {
  if (/^[A-Za-z0-9\-._~/]*$/.test(rawPath)) return rawPath;
  return encodeKey(decodeURIComponent(rawPath));
}

/** Parameters encoded and sorted by name, then value, without `except`. */
export function canonicalQuery(rawQuery: string, except?: string): string {
  if (rawQuery === '') return '';
  const pairs = rawQuery
    .split('&')
    .filter((pair) => pair !== '')
    .map(canonicalPair)
    .filter(([name]) => name !== except);
  return pairs
    .sort(byNameThenValue)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

type Pair = readonly [name: string, value: string];

function canonicalPair(pair: string): Pair {
  const equals = pair.indexOf('=');
  if (equals < 0) return [recode(pair), ''];
  return [recode(pair.slice(0, equals)), recode(pair.slice(equals + 1))];
}

function recode(text: string): string {
  return encodeComponent(decodeURIComponent(text.replaceAll('+', '%20')));
}

function byNameThenValue(left: Pair, right: Pair): number {
  return compare(left[0], right[0]) || compare(left[1], right[1]);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

/** Header values are strings of bytes (latin1), as node:http gives and takes them. */
export function stringToSign(timestamp: string, scope: string, canonical: string): string {
  const digest = hash('sha256', Buffer.from(canonical, 'latin1'), 'hex');
  return `${algorithm}\n${timestamp}\n${scope}\n${digest}`;
}
