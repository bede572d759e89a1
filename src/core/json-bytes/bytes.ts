/** The characters that JSON's grammar names. */
export const char = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quote: 0x22,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  point: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  f: 0x66,
  n: 0x6e,
  t: 0x74,
  u: 0x75,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

export function isSpace(byte: number | undefined): boolean {
  return byte === char.space || byte === char.lineFeed || byte === char.carriageReturn || byte === char.tab;
}

export const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= char.zero && byte <= char.nine;

/** 0 to 15, or -1. */
export function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (isDigit(byte)) return byte - char.zero;
  const letter = (byte | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}
