const alphabet = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const padding = 0x3d;
const values = new Int8Array(256).fill(-1);
for (const [value, letter] of alphabet.entries()) values[letter] = value;

export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** Writes standard base64 with padding, of which no string is made. @returns the offset after it */
export function encodeBase64(bytes: Uint8Array, into: Uint8Array, offset: number): number {
  let at = offset;
  for (let from = 0; from < bytes.length; from += 3) {
    const left = bytes.length - from;
    const group = (at0(bytes, from) << 16) | (at0(bytes, from + 1) << 8) | at0(bytes, from + 2);
    into[at++] = at0(alphabet, group >> 18);
    into[at++] = at0(alphabet, (group >> 12) & 63);
    into[at++] = left > 1 ? at0(alphabet, (group >> 6) & 63) : padding;
    into[at++] = left > 2 ? at0(alphabet, group & 63) : padding;
  }
  return at;
}

/**
 * How many bytes the first `length` characters stand for, or undefined unless they are canonical: padded, and the same
 * when they are decoded and encoded again.
 */
export function decodedLength(text: Uint8Array, length: number): number | undefined {
  if (length === 0 || length % 4 !== 0) return undefined;
  const padded = text[length - 1] !== padding ? 0 : text[length - 2] !== padding ? 1 : 2;
  const letters = length - padded;
  for (let at = 0; at < letters; at++) if ((values[at0(text, at)] as number) < 0) return undefined;
  const unused = padded === 0 ? 0 : padded === 1 ? 3 : 15;
  if (((values[at0(text, letters - 1)] as number) & unused) !== 0) return undefined;
  return (length / 4) * 3 - padded;
}

/** Decodes what `decodedLength` has found canonical, to the end of `into`. */
export function decodeBase64(text: Uint8Array, into: Uint8Array): void {
  let from = 0;
  for (let at = 0; at < into.length; at += 3) {
    let group = 0;
    for (let index = 0; index < 4; index++)
      group = (group << 6) | Math.max(values[at0(text, from++)] as number, 0);
    into[at] = group >> 16;
    if (at + 1 < into.length) into[at + 1] = group >> 8;
    if (at + 2 < into.length) into[at + 2] = group;
  }
}

const at0 = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0;
