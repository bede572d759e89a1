import type { KeyObject } from 'node:crypto';
import { isSealable, publicKeyBytes, x25519PrivateKey, x25519PublicKey } from './x25519.ts';

/** Bech32 (BIP 173) as age writes keys: a single case, and a checksum of six characters. */
const alphabet = Buffer.from('qpzry9x8gf2tvdw0s3jn54khce6mua7l');
const values = new Int8Array(256).fill(-1);
for (const [value, letter] of alphabet.entries()) values[letter] = value;
const checksumLength = 6;
/** Number of five-bit groups in 32 bytes. */
const groups = 52;

/**
 * Decodes to raw bytes without creating strings.
 * @param text in lower case
 * @returns undefined unless the text is valid Bech32 with this prefix
 */
function decode(text: Uint8Array, prefix: string): Buffer | undefined {
  const head = Buffer.from(`${prefix}1`);
  if (
    text.length !== head.length + groups + checksumLength ||
    head.compare(text.subarray(0, head.length)) !== 0
  )
    return undefined;
  const data = text.subarray(head.length);
  let checksum = 1;
  for (const letter of Buffer.from(prefix)) checksum = step(checksum, letter >> 5);
  checksum = step(checksum, 0);
  for (const letter of Buffer.from(prefix)) checksum = step(checksum, letter & 31);
  const raw = Buffer.from(new ArrayBuffer(publicKeyBytes));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const [index, letter] of data.entries()) {
    const value = values[letter] as number;
    if (value < 0) return undefined;
    checksum = step(checksum, value);
    if (index >= groups) continue;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    raw[at++] = held >> bits;
  }
  const spare = held & ((1 << bits) - 1);
  if (checksum === 1 && spare === 0) return raw;
  raw.fill(0);
  return undefined;
}

const generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

function step(checksum: number, value: number): number {
  let next = ((checksum & 0x1ffffff) << 5) ^ value;
  for (const [bit, mask] of generator.entries()) if ((checksum >> (25 + bit)) & 1) next ^= mask;
  return next;
}

/** A public key in age's form (`age1…`), or 32 bytes in base64; undefined for anything else. */
export function readRecipient(text: string): KeyObject | undefined {
  const raw = decode(Buffer.from(text), 'age') ?? rawBase64(Buffer.from(text));
  const key = raw && x25519PublicKey(raw);
  return key && isSealable(key) ? key : undefined;
}

/**
 * Reads the private keys of a file: lines as age-keygen writes them (`AGE-SECRET-KEY-1…`; blank lines and those
 * beginning with `#` are skipped), or 32 bytes, raw or in base64. The caller zeroes the content.
 * @returns undefined if any line is something else, or there is no key
 */
export function readIdentities(content: Buffer): readonly KeyObject[] | undefined {
  if (content.length === publicKeyBytes) return [x25519PrivateKey(content)];
  const identities: KeyObject[] = [];
  for (const line of linesOf(content)) {
    const raw = rawBase64(line) ?? decode(lowered(line), 'age-secret-key-');
    if (raw === undefined) return undefined;
    identities.push(x25519PrivateKey(raw));
    raw.fill(0);
  }
  return identities.length === 0 ? undefined : identities;
}

function* linesOf(content: Buffer): Generator<Buffer> {
  for (let start = 0; start < content.length; ) {
    const found = content.indexOf('\n', start);
    const end = found < 0 ? content.length : found;
    const stop = content[end - 1] === 0x0d ? end - 1 : end;
    const line = content.subarray(start, Math.max(start, stop));
    if (line.length > 0 && line[0] !== 0x23) yield line;
    start = end + 1;
  }
}

/** Converts in place, because the caller zeroes the line. Mixed case is not a key. */
function lowered(line: Buffer): Buffer {
  if (line.some((byte) => byte >= 0x61 && byte <= 0x7a)) return line;
  for (const [at, byte] of line.entries()) if (byte >= 0x41 && byte <= 0x5a) line[at] = byte | 0x20;
  return line;
}

const base64Letters = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const base64Values = new Int8Array(256).fill(-1);
for (const [value, letter] of base64Letters.entries()) base64Values[letter] = value;

/** 32 bytes in 44 characters, the last of which is padding. */
function rawBase64(text: Uint8Array): Buffer | undefined {
  if (text.length !== 44 || text[43] !== 0x3d) return undefined;
  const raw = Buffer.from(new ArrayBuffer(publicKeyBytes));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const letter of text.subarray(0, 43)) {
    const value = base64Values[letter] as number;
    if (value < 0) {
      raw.fill(0);
      return undefined;
    }
    held = ((held << 6) | value) & 0x3fff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    raw[at++] = held >> bits;
  }
  return raw;
}
