import { Http2Error } from './http2-error.ts';
import { decodeHuffman } from './huffman.ts';
import { staticField } from './static-table.ts';

/**
 * Header fields as RFC 7541 compresses them, without a dynamic table: whoever uses this announces a table of size 0,
 * so that the other side refers to none.
 */
export type HeaderField = readonly [name: string, value: string];

/** Names in lower case; nothing is compressed or put into a table. */
export function encodeHeaders(fields: readonly HeaderField[]): Uint8Array {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]));
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return Buffer.concat([integer(bytes.length), bytes]);
}

/** With a prefix of seven bits and none of the flags before it. */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.of(value);
  const encoded = [127];
  let rest = value - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) encoded.push((rest % 128) + 128);
  return Buffer.from([...encoded, rest]);
}

/** @throws Http2Error for a block that is cut, malformed or refers to a dynamic table */
export function decodeHeaders(block: Uint8Array): HeaderField[] {
  const reader = new Reader(block);
  const fields: HeaderField[] = [];
  while (!reader.atEnd) {
    const field = decodeField(reader, reader.peek());
    if (field) fields.push(field);
  }
  return fields;
}

/** Nothing for an update of the table's size. */
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
    if (octet === undefined) throw new Http2Error('headers are cut');
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
    if (bytes.length < length) throw new Http2Error('headers are cut');
    this.#offset += length;
    return Buffer.from(huffman ? decodeHuffman(bytes) : bytes).toString('latin1');
  }

  #next(): number {
    const octet = this.peek();
    this.#offset += 1;
    return octet;
  }
}
