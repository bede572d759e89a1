import { char, hexDigit } from './bytes.ts';
import { JsonError } from './json-error.ts';

const replacement = 0xfffd;
const simple = new Map<number, number>(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meant]) => [letter.charCodeAt(0), meant.charCodeAt(0)],
  ),
);

/**
 * Writes what a scanned string (quotes included in `start` and `end`) means into `into`, as UTF-8;
 * half a surrogate pair becomes U+FFFD. The text never grows, so `into` may be the same memory from `start` on.
 * @returns the count of bytes written, at most `end - start - 2`
 */
export function decodeString(bytes: Uint8Array, start: number, end: number, into: Uint8Array): number {
  const last = end - 1;
  let from = start + 1;
  let to = 0;
  while (from < last) {
    const byte = bytes[from] as number;
    if (byte !== char.backslash) {
      into[to++] = byte;
      from++;
    } else if (bytes[from + 1] !== char.u) {
      into[to++] = unescaped(bytes, from);
      from += 2;
    } else {
      const point = codePoint(bytes, from, last);
      from += point > 0xffff ? 12 : 6;
      to = writeUtf8(point, into, to);
    }
  }
  return to;
}

function unescaped(bytes: Uint8Array, at: number): number {
  const meant = simple.get(bytes[at + 1] ?? 0);
  if (meant === undefined) throw new JsonError(at, 'an escape sequence');
  return meant;
}

/** Of the one or two `\u` sequences at `at`. */
function codePoint(bytes: Uint8Array, at: number, last: number): number {
  const unit = codeUnit(bytes, at);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  const paired =
    unit < 0xdc00 && at + 12 <= last && bytes[at + 6] === char.backslash && bytes[at + 7] === char.u;
  const low = paired ? codeUnit(bytes, at + 6) : 0;
  if (low < 0xdc00 || low > 0xdfff) return replacement;
  return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

function codeUnit(bytes: Uint8Array, at: number): number {
  let unit = 0;
  for (let next = at + 2; next < at + 6; next++) {
    const digit = hexDigit(bytes[next]);
    if (digit < 0) throw new JsonError(next, 'a hexadecimal digit');
    unit = unit * 16 + digit;
  }
  return unit;
}

function writeUtf8(point: number, into: Uint8Array, at: number): number {
  if (point < 0x80) {
    into[at] = point;
    return at + 1;
  }
  const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const lead = more === 1 ? 0xc0 : more === 2 ? 0xe0 : 0xf0;
  into[at] = lead | (point >> (6 * more));
  for (let index = 1; index <= more; index++) {
    into[at + index] = 0x80 | ((point >> (6 * (more - index))) & 0x3f);
  }
  return at + more + 1;
}
