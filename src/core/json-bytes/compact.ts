import { isSpace } from './bytes.ts';
import type { JsonValue } from './json-value.ts';
import { scanString } from './scan-scalar.ts';

/**
 * Takes the white space between the tokens out of a scanned value, in place.
 * @returns the new end of the value
 */
export function compact(bytes: Uint8Array, { start, end }: JsonValue): number {
  let to = start;
  let from = start;
  while (from < end) {
    const next = bytes[from] === 0x22 ? scanString(bytes, from) : from + 1;
    if (!isSpace(bytes[from])) {
      if (to < from) bytes.copyWithin(to, from, next);
      to += next - from;
    }
    from = next;
  }
  return to;
}
