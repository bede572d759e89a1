const star = 0x2a;
const shortest = 16;
/** Random text in base 64, 62 or 32 changes between capitals, small letters and digits far more often. */
const longestStretch = 5;
/** One in so many is a digit in what is hexadecimal. */
const scarcestDigits = 4;

/**
 * Overwrites by `*` what looks random in a text: a key server that repeats a token or a value in its complaint must
 * not bring it into a log. Words, paths and host names stay.
 */
export function crossOutOpaque(text: Uint8Array): void {
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && isOfWord(text[at] as number)) continue;
    const word = text.subarray(start, at);
    if (word.length >= shortest && looksRandom(word)) word.fill(star);
    start = at + 1;
  }
}

/** Counts in place: a copy would be one more place of a secret. */
function looksRandom(word: Uint8Array): boolean {
  let digits = 0;
  let changes = 0;
  let last: string | undefined;
  for (const byte of word) {
    const kind = kindOf(byte);
    if (kind === 'digit') digits++;
    if (kind !== undefined && last !== undefined && kind !== last) changes++;
    last = kind ?? last;
  }
  return changes * longestStretch >= word.length || digits * scarcestDigits >= word.length;
}

/** `+`, `-`, `_` and `=` as well, which base 64 uses; not `/`, `.` and `:`, which join words. */
function isOfWord(byte: number): boolean {
  return kindOf(byte) !== undefined || byte === 0x2b || byte === 0x2d || byte === 0x5f || byte === 0x3d;
}

function kindOf(byte: number): 'digit' | 'capital' | 'letter' | undefined {
  if (byte >= 0x30 && byte <= 0x39) return 'digit';
  if (byte >= 0x41 && byte <= 0x5a) return 'capital';
  return byte >= 0x61 && byte <= 0x7a ? 'letter' : undefined;
}
