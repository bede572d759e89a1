import { ProtobufError } from './protobuf-error.ts';

/** What a message holds, by field number; the last of several wins, as the schema's language says of single fields. */
export class Fields {
  readonly #varints: ReadonlyMap<number, bigint>;
  readonly #bytes: ReadonlyMap<number, Uint8Array>;

  constructor(varints: ReadonlyMap<number, bigint>, bytes: ReadonlyMap<number, Uint8Array>) {
    this.#varints = varints;
    this.#bytes = bytes;
  }

  /** uint64; 0 where it is absent. */
  unsigned(number: number): bigint {
    return this.#varints.get(number) ?? 0n;
  }

  /** uint32 or an enum of which no value is negative; more than 32 bits are cut, as every reader does. */
  unsigned32(number: number): number {
    return Number(BigInt.asUintN(32, this.unsigned(number)));
  }

  bool(number: number): boolean {
    return this.unsigned(number) !== 0n;
  }

  /** A view of the message's own bytes; empty where it is absent. */
  bytes(number: number): Uint8Array {
    return this.#bytes.get(number) ?? new Uint8Array(0);
  }

  /** @throws ProtobufError when it is not UTF-8 */
  string(number: number): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytes(number));
    } catch {
      throw new ProtobufError(`field ${number} is not UTF-8`);
    }
  }
}

/**
 * Takes a message apart. Fields of types that no schema of ours has (fixed-size numbers) are passed over; groups,
 * which proto3 does not have, are refused.
 * @throws ProtobufError when the bytes are cut or malformed
 */
export function readFields(message: Uint8Array): Fields {
  const cursor = new Cursor(message);
  const varints = new Map<number, bigint>();
  const bytes = new Map<number, Uint8Array>();
  while (!cursor.atEnd) {
    const key = cursor.key();
    const number = key >>> 3;
    if (number === 0) throw new ProtobufError('field number 0');
    readField(cursor, number, key & 7, varints, bytes);
  }
  return new Fields(varints, bytes);
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

  /** Ten bytes at most; bits beyond 64 are cut, as every reader does. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#message[this.#offset++];
      if (byte === undefined) throw new ProtobufError('a number is cut');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new ProtobufError('a number is longer than ten bytes');
  }

  take(length: bigint): Uint8Array {
    if (length > BigInt(this.#message.length - this.#offset)) throw new ProtobufError('a field is cut');
    const start = this.#offset;
    this.#offset += Number(length);
    return this.#message.subarray(start, this.#offset);
  }
}
