/**
 * One encoded field, or nothing, since proto3 omits default values. A message is the concatenation of its fields; field
 * numbers are 1 to 536,870,911.
 */
export type ProtobufField = Uint8Array;

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const NOTHING: ProtobufField = new Uint8Array(0);
const utf8 = new TextEncoder();

export function message(...fields: readonly ProtobufField[]): Uint8Array {
  return concat(fields);
}

/** uint32, uint64 or an enum; the value is an integer from 0 to 2^64-1. Zero is omitted. */
export function unsigned(number: number, value: number | bigint): ProtobufField {
  return BigInt(value) === 0n ? NOTHING : presentUnsigned(number, value);
}

/** Like `unsigned`, for a field with presence: zero is written, undefined omitted. */
export function presentUnsigned(number: number, value: number | bigint | undefined): ProtobufField {
  return value === undefined ? NOTHING : concat([key(number, VARINT), varint(BigInt(value))]);
}

export function bool(number: number, value: boolean): ProtobufField {
  return unsigned(number, value ? 1 : 0);
}

/** Like `bool`, for a field with presence: false is written, undefined omitted. */
export function presentBool(number: number, value: boolean | undefined): ProtobufField {
  return presentUnsigned(number, value === undefined ? undefined : Number(value));
}

export function string(number: number, value: string): ProtobufField {
  return bytes(number, utf8.encode(value));
}

export function bytes(number: number, value: Uint8Array): ProtobufField {
  return value.length === 0 ? NOTHING : embedded(number, value);
}

/** A nested message; an empty one is written, undefined omitted. */
export function embedded(number: number, value: Uint8Array | undefined): ProtobufField {
  if (value === undefined) return NOTHING;
  return concat([key(number, LENGTH_DELIMITED), varint(BigInt(value.length)), value]);
}

function key(number: number, wireType: number): Uint8Array {
  return varint((BigInt(number) << 3n) | BigInt(wireType));
}

/** Seven bits a byte, lowest first; the high bit indicates that more follow. */
function varint(value: bigint): Uint8Array {
  if (value < 0n || value >= 1n << 64n) throw new RangeError('a varint holds 0 to 2^64-1');
  const encoded: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) encoded.push(Number(rest & 0x7fn) | 0x80);
  encoded.push(Number(rest));
  return Uint8Array.from(encoded);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Not a protobuf message. The text never quotes the bytes. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

/** The fields of a message by number; if a single field repeats, the last one wins, as protobuf specifies. */
export class ProtobufFields {
  readonly #varints: ReadonlyMap<number, bigint>;
  readonly #bytes: ReadonlyMap<number, Uint8Array>;

  constructor(varints: ReadonlyMap<number, bigint>, bytes: ReadonlyMap<number, Uint8Array>) {
    this.#varints = varints;
    this.#bytes = bytes;
  }

  /** uint64; 0 if absent. */
  unsigned(number: number): bigint {
    return this.#varints.get(number) ?? 0n;
  }

  /** uint32 or an enum without negative values; truncated to 32 bits, as in every protobuf reader. */
  unsigned32(number: number): number {
    return Number(BigInt.asUintN(32, this.unsigned(number)));
  }

  bool(number: number): boolean {
    return this.unsigned(number) !== 0n;
  }

  /** A view of the message's bytes; empty if absent. */
  bytes(number: number): Uint8Array {
    return this.#bytes.get(number) ?? new Uint8Array(0);
  }

  /** @throws ProtobufError unless it is UTF-8 */
  string(number: number): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytes(number));
    } catch {
      throw new ProtobufError(`field ${number} is not UTF-8`);
    }
  }
}

/**
 * Parses a message. Fields of types that our schemas do not use (fixed-size numbers) are skipped; groups, which proto3
 * does not have, are rejected.
 * @throws ProtobufError for truncated or malformed bytes
 */
export function readFields(message: Uint8Array): ProtobufFields {
  const cursor = new Cursor(message);
  const varints = new Map<number, bigint>();
  const bytes = new Map<number, Uint8Array>();
  while (!cursor.atEnd) {
    const key = cursor.key();
    const number = key >>> 3;
    if (number === 0) throw new ProtobufError('field number 0');
    readField(cursor, number, key & 7, varints, bytes);
  }
  return new ProtobufFields(varints, bytes);
}

function readField(
  cursor: Cursor,
  number: number,
  wireType: number,
  varints: Map<number, bigint>,
  bytes: Map<number, Uint8Array>,
): void {
  if (wireType === 0) varints.set(number, cursor.varint());
  else if (wireType === 1) cursor.take(8n);
  else if (wireType === 2) bytes.set(number, cursor.take(cursor.varint()));
  else if (wireType === 5) cursor.take(4n);
  else throw new ProtobufError(`field ${number} has wire type ${wireType}`);
}

class Cursor {
  readonly #message: Uint8Array;
  #offset = 0;

  constructor(message: Uint8Array) {
    this.#message = message;
  }

  get atEnd(): boolean {
    return this.#offset >= this.#message.length;
  }

  key(): number {
    const value = this.varint();
    if (value >= 1n << 32n) throw new ProtobufError('a field number beyond 29 bits');
    return Number(value);
  }

  /** At most ten bytes; truncated to 64 bits, as in every protobuf reader. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#message[this.#offset++];
      if (byte === undefined) throw new ProtobufError('a number is truncated');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError('a number is longer than ten bytes');
  }

  take(length: bigint): Uint8Array {
    if (length > BigInt(this.#message.length - this.#offset)) throw new ProtobufError('a field is truncated');
    const start = this.#offset;
    this.#offset += Number(length);
    return this.#message.subarray(start, this.#offset);
  }
}

/** Called for each length-delimited field with its number and offsets. */
export type VisitField = (number: number, start: number, end: number) => void;

/**
 * Walks the fields of a message between two offsets without decoding them, to check it beforehand. Numeric fields are
 * skipped.
 * @throws ProtobufError for truncated or malformed bytes; errors of `visit`
 */
export function visitNested(bytes: Uint8Array, start: number, end: number, visit: VisitField): void {
  let at = start;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 63; scale *= 128) {
      const byte = at < end ? bytes[at++] : undefined;
      if (byte === undefined) throw new ProtobufError('a number is truncated');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError('a number is longer than ten bytes');
  };
  const skip = (length: number): number => {
    if (length > end - at) throw new ProtobufError('a field is truncated');
    const from = at;
    at += length;
    return from;
  };
  while (at < end) {
    const key = varint();
    const number = Math.floor(key / 8);
    const type = key % 8;
    if (type === 0) varint();
    else if (type === 1) skip(8);
    else if (type === 5) skip(4);
    else if (type === 2) visit(number, skip(varint()), at);
    else throw new ProtobufError(`field ${number} has wire type ${type}`);
  }
}
