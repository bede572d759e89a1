import { ProtobufError } from './protobuf-error.ts';

/** Called with each field of bytes: its number, and where it lies. */
export type Visit = (number: number, start: number, end: number) => void;

/**
 * Goes through the fields of a message that lies between two offsets, without making anything of them: for judging a
 * message by its shape before it is decoded. Numbers are passed over.
 * @throws ProtobufError when the bytes are cut or malformed; what `visit` throws
 */
export function visitNested(bytes: Uint8Array, start: number, end: number, visit: Visit): void {
  let at = start;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 63; scale *= 128) {
      const byte = at < end ? bytes[at++] : undefined;
      if (byte === undefined) throw new ProtobufError('a number is cut');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new ProtobufError('a number is longer than ten bytes');
  };
  const skip = (length: number): number => {
    if (length > end - at) throw new ProtobufError('a field is cut');
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
