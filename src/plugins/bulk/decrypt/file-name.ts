import { createHash } from 'node:crypto';

/** File systems limit a name to this many bytes. */
const longestName = 255;
/** Bytes kept of a name that ends in a hash, so that people can still recognize it. */
const keptOfLong = 160;

/**
 * Maps a key to the segments of a relative path. Paths are unique, stay inside the folder and never collide with names
 * of our own: control characters and `%` are percent-encoded, `.` and `..` become `%2E` and `%2E%2E`, an empty segment
 * becomes `%2F`, and a segment that is too long ends in `%7E` and its SHA-256.
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

/** An alternative name where the file system treats two names as equal, as when they differ in case only. */
export const secondName = (name: string, key: string): string =>
  `${start(name)}%7E${sha256(`second\n${key}`).slice(0, 16)}`;

/** Name of a folder that must stand beside a file of the same name; no key maps to a name that ends like this. */
export const folderBeside = (name: string): string => `${start(name, longestName - 3)}%2F`;

/** The longest prefix within `bytes` that splits neither a character nor a percent-encoded byte. */
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
