import { Http2Error } from './http2-frames.ts';

/**
 * Header fields encoded as in RFC 7541, without a dynamic table: the user of this module must announce a table size of
 * 0, so that the peer never refers to one.
 */
export type HeaderField = readonly [name: string, value: string];

/** Names must be in lower case; nothing is compressed or indexed. */
export function encodeHeaders(fields: readonly HeaderField[]): Uint8Array {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([integer(bytes.length), bytes]);
}

/** With a seven-bit prefix and no flags before it. */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.of(value);
  const encoded = [127];
  let rest = value - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) encoded.push((rest % 128) + 128);
  return Buffer.from([...encoded, rest]);
}

/** A field may take one byte of a block, and many times that in memory. */
const maxFields = 128;

/** @throws Http2Error for a truncated or malformed block, too many fields, or a reference to a dynamic table */
export function decodeHeaders(block: Uint8Array): HeaderField[] {
  const reader = new Reader(block);
  const fields: HeaderField[] = [];
  while (!reader.atEnd) {
    const field = decodeField(reader, reader.peek());
    if (field) fields.push(field);
    if (fields.length > maxFields) throw new Http2Error('too many headers');
  }
  return fields;
}

/** Undefined for a table size update. */
function decodeField(reader: Reader, first: number): HeaderField | undefined {
  if (first & 0x80) return known(reader.integer(7));
  if ((first & 0xe0) === 0x20) {
    if (reader.integer(5) !== 0) throw new Http2Error('a header table that was not offered');
    return undefined;
  }
  const index = reader.integer(first & 0x40 ? 6 : 4);
  const name = index === 0 ? reader.text() : known(index)[0];
  return [name, reader.text()];
}

function known(index: number): HeaderField {
  const field = staticField(index);
  if (field === undefined) throw new Http2Error('a header of a table that was not offered');
  return field;
}

class Reader {
  readonly #block: Uint8Array;
  #offset = 0;

  constructor(block: Uint8Array) {
    this.#block = block;
  }

  get atEnd(): boolean {
    return this.#offset >= this.#block.length;
  }

  peek(): number {
    const octet = this.#block[this.#offset];
    if (octet === undefined) throw new Http2Error('the headers are truncated');
    return octet;
  }

  integer(prefixBits: number): number {
    const mask = (1 << prefixBits) - 1;
    let value = this.#next() & mask;
    if (value < mask) return value;
    for (let factor = 1; factor <= 128 ** 2; factor *= 128) {
      const octet = this.#next();
      value += (octet & 0x7f) * factor;
      if (octet < 0x80) return value;
    }
    throw new Http2Error('a number in headers is too long');
  }

  text(): string {
    const huffman = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    const bytes = this.#block.subarray(this.#offset, this.#offset + length);
    if (bytes.length < length) throw new Http2Error('the headers are truncated');
    this.#offset += length;
    return Buffer.from(huffman ? decodeHuffman(bytes) : bytes).toString('latin1');
  }

  #next(): number {
    const octet = this.peek();
    this.#offset += 1;
    return octet;
  }
}

/**
 * Code lengths in bits of RFC 7541, appendix B, as base-36 digits, by octet and for the end of string. They determine
 * the codes: codes of one length are consecutive, and shorter ones come first.
 */
const lengths = [
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca',
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds',
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn',
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq',
  'u',
].join('');
const endOfString = 256;

interface Codes {
  /** By length: the first code, the number of codes, and the index of their first symbol. */
  readonly first: number[];
  readonly count: number[];
  readonly start: number[];
  readonly symbols: number[];
}

let codes: Codes | undefined;

/** @throws Http2Error for the end-of-string code or invalid padding */
export function decodeHuffman(encoded: Uint8Array): Uint8Array {
  codes ??= canonicalCodes();
  const decoded: number[] = [];
  let code = 0;
  let length = 0;
  for (const octet of encoded) {
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((octet >> bit) & 1);
      length += 1;
      const symbol = symbolOf(codes, code, length);
      if (symbol === undefined) continue;
      if (symbol === endOfString) throw new Http2Error('a string contains the end symbol');
      decoded.push(symbol);
      code = 0;
      length = 0;
    }
  }
  if (length > 7 || code !== (1 << length) - 1) throw new Http2Error('a string is padded wrongly');
  return Uint8Array.from(decoded);
}

function symbolOf({ first, count, start, symbols }: Codes, code: number, length: number): number | undefined {
  const index = code - (first[length] ?? 0);
  if (index < 0 || index >= (count[length] ?? 0)) return undefined;
  return symbols[(start[length] ?? 0) + index];
}

function canonicalCodes(): Codes {
  const built: Codes = { first: [], count: [], start: [], symbols: [] };
  let code = 0;
  for (let length = 0; length <= 30; length++) {
    const digit = length.toString(36);
    const symbols = [...lengths].flatMap((one, symbol) => (one === digit ? [symbol] : []));
    code *= 2;
    built.first.push(code);
    built.count.push(symbols.length);
    built.start.push(built.symbols.length);
    built.symbols.push(...symbols);
    code += symbols.length;
  }
  return built;
}

/** Static table of RFC 7541, appendix A: one name a line, with its value if any. */
const table: readonly HeaderField[] = `
:authority
:method GET
:method POST
:path /
:path /index.html
:scheme http
:scheme https
:status 200
:status 204
:status 206
:status 304
:status 400
:status 404
:status 500
accept-charset
accept-encoding gzip, deflate
accept-language
accept-ranges
accept
access-control-allow-origin
age
allow
authorization
cache-control
content-disposition
content-encoding
content-language
content-length
content-location
content-range
content-type
cookie
date
etag
expect
expires
from
host
if-match
if-modified-since
if-none-match
if-range
if-unmodified-since
last-modified
link
location
max-forwards
proxy-authenticate
proxy-authorization
range
referer
refresh
retry-after
server
set-cookie
strict-transport-security
transfer-encoding
user-agent
vary
via
www-authenticate`
  .split('\n')
  .map((line) => {
    const [name = '', ...value] = line.split(' ');
    return [name, value.join(' ')];
  });

/**
 * @param index from 1
 * @returns undefined for an index outside the table
 */
export const staticField = (index: number): HeaderField | undefined => (index > 0 ? table[index] : undefined);
