/**
 * One field on the wire, or nothing: proto3 leaves default values out. A message is the concatenation of its
 * fields; numbers are those of the schema, 1 to 536,870,911.
 */
export type Field = Uint8Array;

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const NOTHING: Field = new Uint8Array(0);
const utf8 = new TextEncoder();

/** The message that these fields make, in their order. */
export function message(...fields: readonly Field[]): Uint8Array {
  return concat(fields);
}

/** uint32, uint64 or an enum; the value is a whole number from 0 to 2^64-1. Zero is left out. */
export function unsigned(number: number, value: number | bigint): Field {
  return BigInt(value) === 0n ? NOTHING : presentUnsigned(number, value);
}

/** As `unsigned` for a field with presence: zero is written, undefined left out. */
export function presentUnsigned(number: number, value: number | bigint | undefined): Field {
  return value === undefined ? NOTHING : concat([key(number, VARINT), varint(BigInt(value))]);
}

export function bool(number: number, value: boolean): Field {
  return unsigned(number, value ? 1 : 0);
}

/** As `bool` for a field with presence: false is written, undefined left out. */
export function presentBool(number: number, value: boolean | undefined): Field {
  return presentUnsigned(number, value === undefined ? undefined : Number(value));
}

export function string(number: number, value: string): Field {
  return bytes(number, utf8.encode(value));
}

export function bytes(number: number, value: Uint8Array): Field {
  return value.length === 0 ? NOTHING : embedded(number, value);
}

/** A message inside of a message; an empty one is written, undefined left out. */
export function embedded(number: number, value: Uint8Array | undefined): Field {
  if (value === undefined) return NOTHING;
  return concat([key(number, LENGTH_DELIMITED), varint(BigInt(value.length)), value]);
}

function key(number: number, wireType: number): Uint8Array {
  return varint((BigInt(number) << 3n) | BigInt(wireType));
}

/** Seven bits a byte, the lowest first; the high bit says that more follow. */
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
