import { Http2Error } from './http2-error.ts';

/**
 * Lengths in bits of the codes of RFC 7541, appendix B, as digits to the base 36, by octet and for the end of string.
 * The codes follow from them: within a length they are consecutive, shorter ones come first.
 */
const lengths = [
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca',
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds',
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn',
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq',
  'u',
].join('');
const endOfString = 256;

interface Codes {
  /** By length: the first code, how many there are, and where their symbols begin. */
  readonly first: number[];
  readonly count: number[];
  readonly start: number[];
  readonly symbols: number[];
}

let codes: Codes | undefined;

/** @throws Http2Error for a code that stands for the end, or padding that is none */
export function decodeHuffman(encoded: Uint8Array): Uint8Array {
  codes ??= canonicalCodes();
  const decoded: number[] = [];
  let code = 0;
  let length = 0;
  for (const octet of encoded) {
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((octet >> bit) & 1);
      length += 1;
      const symbol = symbolOf(codes, code, length);
      if (symbol === undefined) continue;
      if (symbol === endOfString) throw new Http2Error('a string holds its end');
      decoded.push(symbol);
      code = 0;
      length = 0;
    }
  }
  if (length > 7 || code !== (1 << length) - 1) throw new Http2Error('a string is padded wrongly');
  return Uint8Array.from(decoded);
}

function symbolOf({ first, count, start, symbols }: Codes, code: number, length: number): number | undefined {
  const index = code - (first[length] ?? 0);
  if (index < 0 || index >= (count[length] ?? 0)) return undefined;
  return symbols[(start[length] ?? 0) + index];
}

function canonicalCodes(): Codes {
  const built: Codes = { first: [], count: [], start: [], symbols: [] };
  let code = 0;
  for (let length = 0; length <= 30; length++) {
    const digit = length.toString(36);
    const symbols = [...lengths].flatMap((one, symbol) => (one === digit ? [symbol] : []));
    code *= 2;
    built.first.push(code);
    built.count.push(symbols.length);
    built.start.push(built.symbols.length);
    built.symbols.push(...symbols);
    code += symbols.length;
  }
  return built;
}
