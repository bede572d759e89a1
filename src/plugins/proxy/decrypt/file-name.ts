import { createHash } from 'node:crypto';

/** File systems take no more bytes of a name. */
const longestName = 255;
/** Of a name that ends in a hash, so that some of it can still be read. */
const keptOfLong = 160;

/**
 * The parts of a relative path that a key stands for. No two keys have the same path, and none leads out of the folder or is
 * a name of our own: control characters and `%` are percent-encoded, `.` and `..` are `%2E` and `%2E%2E`, a part without
 * characters is `%2F`, and a part that is too long for a file ends in `%7E` and its SHA-256.
 */
export const pathParts = (key: string): string[] => key.split('/').map(fileName);

function fileName(part: string): string {
  if (part === '') return '%2F';
  if (part === '.' || part === '..') return part.replaceAll('.', '%2E');
  const name = part.replace(/[%\p{Cc}\p{Cs}]/gu, encoded);
  return Buffer.byteLength(name) <= longestName ? name : `${start(name)}%7E${sha256(part)}`;
}

const encoded = (character: string) =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** Another name for what has to lie beside a file that a file system takes for the same, such as one in capitals. */
export const secondName = (name: string, key: string): string =>
  `${start(name)}%7E${sha256(`second\n${key}`).slice(0, 16)}`;

/** A folder beside a file of the same name; no name ends so by itself. */
export const folderBeside = (name: string): string => `${start(name, longestName - 3)}%2F`;

/** Whole characters, and no half of a percent-encoded one. */
function start(name: string, bytes = keptOfLong): string {
  let text = '';
  let size = 0;
  for (const [piece] of name.matchAll(/%[0-9A-F]{2}|./gsu)) {
    size += Buffer.byteLength(piece);
    if (size > bytes) break;
    text += piece;
  }
  return text;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
