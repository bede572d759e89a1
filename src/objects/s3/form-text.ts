import { isUtf8 } from 'node:buffer';

const codes = { percent: 0x25, plus: 0x2b, blank: 0x20 };

/**
 * Decodes a key as listings encode it with `encoding-type=url`: `%` and two digits for a byte, `+` for a blank. Takes no
 * string for each of them, because the store decides how many there are.
 * @returns undefined for text that is not validly encoded
 */
export function decodeForm(text: string): string | undefined {
  if (!text.includes('%') && !text.includes('+')) return text;
  const bytes = Buffer.from(text);
  let filled = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === codes.percent) {
      const code = digitOf(bytes[at + 1]) * 16 + digitOf(bytes[at + 2]);
      if (Number.isNaN(code)) return undefined;
      bytes[filled++] = code;
      at += 2;
    } else bytes[filled++] = byte === codes.plus ? codes.blank : byte;
  }
  const decoded = bytes.subarray(0, filled);
  return isUtf8(decoded) ? decoded.toString() : undefined;
}

/** 0 to 15; NaN for any other character. */
function digitOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : Number.NaN;
}
