const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

const special = /[&<>"']|[^\t\n\x20-\ud7ff\ue000-\ufffd]/g;

/**
 * Escapes text for element content and attributes. Characters that XML 1.0 cannot represent become references like
 * `&#x1;`, as in S3; unpaired surrogates become U+FFFD.
 */
export function escapeXml(text: string): string {
  return text.toWellFormed().replace(special, (character) => escapes[character] ?? reference(character));
}

function reference(character: string): string {
  const code = character.charCodeAt(0);
  return code >= 0xd800 && code <= 0xdfff ? character : `&#x${code.toString(16)};`;
}

/** `<name>text</name>` with the text escaped; `name` is trusted. */
export function element(name: string, text: string | number | boolean): string {
  return `<${name}>${typeof text === 'string' ? escapeXml(text) : text}</${name}>`;
}

/** `decodeText` for a string; unpaired surrogates become U+FFFD. */
export const unescapeXml = (text: string): string | undefined => decodeText(Buffer.from(text));

const codes = { ampersand: 0x26, less: 0x3c, return: 0x0d, feed: 0x0a, semicolon: 0x3b, sign: 0x23, x: 0x78 };

/**
 * Reads the content of an element: resolves XML's five entities and character references, normalizes ends of lines, and
 * leaves out comments and processing instructions. Takes no string for each reference: a listing may hold a million, and
 * V8 keeps such garbage for long.
 * @returns undefined if it holds an element, another reference, or a `&` of its own
 */
export function decodeText(bytes: Buffer, start = 0, end = bytes.length): string | undefined {
  const first = firstSpecial(bytes, start, end);
  if (first === end) return bytes.toString('utf8', start, end);
  // no construct is shorter than what it stands for
  const plain = scratch(end - start);
  let filled = bytes.copy(plain, 0, start, first);
  for (let at = first; at < end; ) {
    const byte = bytes[at] as number;
    if (byte === codes.ampersand) {
      const close = endOfReference(bytes, at, end);
      const code = close < 0 ? undefined : codeOf(bytes, at + 1, close);
      if (code === undefined) return undefined;
      filled = encode(plain, filled, code);
      at = close + 1;
    } else if (byte === codes.less) {
      at = endOfAside(bytes, at, end);
      if (at < 0) return undefined;
    } else if (byte === codes.return) {
      plain[filled++] = codes.feed;
      at += bytes[at + 1] === codes.feed && at + 1 < end ? 2 : 1;
    } else {
      plain[filled++] = byte;
      at++;
    }
  }
  return plain.toString('utf8', 0, filled);
}

/** Writes a character as UTF-8; the offset after it. */
function encode(bytes: Buffer, at: number, code: number): number {
  const more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  bytes[at] = more === 0 ? code : ((0xf00 >> (more + 1)) & 0xff) | (code >> (6 * more));
  for (let index = 1; index <= more; index++)
    bytes[at + index] = 0x80 | ((code >> (6 * (more - index))) & 0x3f);
  return at + more + 1;
}

function firstSpecial(bytes: Buffer, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === codes.ampersand || byte === codes.less || byte === codes.return) return at;
  }
  return end;
}

/** Longest reference: `&#1114111;`, with leading zeros as in `&#0000065;`. */
const maxReference = 10;

/** The offset of the `;`; -1 if there is none near. */
function endOfReference(bytes: Buffer, start: number, end: number): number {
  const last = Math.min(end, start + maxReference);
  for (let at = start + 1; at < last; at++) if (bytes[at] === codes.semicolon) return at;
  return -1;
}

/** The character of what stands between `&` and `;`. */
function codeOf(bytes: Buffer, start: number, end: number): number | undefined {
  if (bytes[start] === codes.sign) return codeOfNumber(bytes, start + 1, end);
  for (const { name, code } of entities)
    if (name.length === end - start && startsWith(bytes, start, end, name)) return code;
  return undefined;
}

const entities = Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }).map(
  ([name, character]) => ({ name: Buffer.from(name), code: character.charCodeAt(0) }),
);

/** Of `65` or `x41`. */
function codeOfNumber(bytes: Buffer, start: number, end: number): number | undefined {
  const isHexadecimal = bytes[start] === codes.x;
  const first = isHexadecimal ? start + 1 : start;
  const base = isHexadecimal ? 16 : 10;
  if (end <= first || end - first > (isHexadecimal ? 6 : 7)) return undefined;
  let code = 0;
  for (let at = first; at < end; at++) {
    const digit = digitOf(bytes[at] as number);
    if (digit >= base) return undefined;
    code = code * base + digit;
  }
  return isCharacter(code) ? code : undefined;
}

const isCharacter = (code: number): boolean =>
  code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);

/** 0 to 15; larger for other characters. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : 16;
}

const asides = [
  { open: Buffer.from('<!--'), close: Buffer.from('-->') },
  { open: Buffer.from('<?'), close: Buffer.from('?>') },
];

/** The offset after the comment or processing instruction that begins at `start`; -1 if none does, or it has no end. */
export function endOfAside(bytes: Buffer, start: number, end = bytes.length): number {
  for (const { open, close } of asides) {
    if (!startsWith(bytes, start, end, open)) continue;
    for (let at = start + open.length; at + close.length <= end; at++)
      if (bytes[at] === close[0] && startsWith(bytes, at, end, close)) return at + close.length;
  }
  return -1;
}

function startsWith(bytes: Buffer, start: number, end: number, word: Buffer): boolean {
  if (end - start < word.length) return false;
  for (let index = 0; index < word.length; index++) if (bytes[start + index] !== word[index]) return false;
  return true;
}

/** More than S3's longest key takes with every byte as an entity. */
const scratchBytes = 8 * 1024;
let scratched: Buffer | undefined;

/** Memory that the next call overwrites; larger buffers than a key needs are not kept. */
function scratch(length: number): Buffer {
  if (length > scratchBytes) return Buffer.allocUnsafeSlow(length);
  scratched ??= Buffer.allocUnsafeSlow(scratchBytes);
  return scratched;
}
