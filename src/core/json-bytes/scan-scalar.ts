import { char, hexDigit, isDigit } from './bytes.ts';
import { JsonError } from './json-error.ts';

/** @returns the end of the string that begins at `at` with its quote */
export function scanString(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  for (;;) {
    const byte = bytes[next];
    if (byte === undefined || byte < char.space) throw new JsonError(next, 'the rest of a string');
    if (byte === char.quote) return next + 1;
    next = byte === char.backslash ? scanEscape(bytes, next) : next + 1;
  }
}

const simpleEscapes = new Set(Buffer.from('"\\/bfnrt'));

function scanEscape(bytes: Uint8Array, at: number): number {
  const kind = bytes[at + 1];
  if (kind !== undefined && simpleEscapes.has(kind)) return at + 2;
  const end = at + 6;
  for (let next = at + 2; next < end; next++) {
    if (kind !== char.u || hexDigit(bytes[next]) < 0) throw new JsonError(next, 'an escape sequence');
  }
  return end;
}

/** @returns the end of the number that begins at `at` */
export function scanNumber(bytes: Uint8Array, at: number): number {
  let next = bytes[at] === char.minus ? at + 1 : at;
  next = bytes[next] === char.zero ? next + 1 : scanDigits(bytes, next);
  if (bytes[next] === char.point) next = scanDigits(bytes, next + 1);
  if (bytes[next] === 0x65 || bytes[next] === 0x45) {
    const sign = bytes[next + 1];
    next = scanDigits(bytes, sign === char.plus || sign === char.minus ? next + 2 : next + 1);
  }
  return next;
}

function scanDigits(bytes: Uint8Array, at: number): number {
  if (!isDigit(bytes[at])) throw new JsonError(at, 'a digit');
  let next = at + 1;
  while (isDigit(bytes[next])) next++;
  return next;
}

/** @returns the end of `word`, which must stand at `at` */
export function scanWord(bytes: Uint8Array, at: number, word: string): number {
  for (let index = 0; index < word.length; index++) {
    if (bytes[at + index] !== word.charCodeAt(index)) throw new JsonError(at + index, 'a value');
  }
  return at + word.length;
}
