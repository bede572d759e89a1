import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { Crc64Nvme } from './crc64nvme.ts';
import { s3Error } from './error.ts';
import type { PayloadMode } from './sigv4-sign.ts';

export type ChecksumAlgorithm = 'crc32' | 'crc32c' | 'crc64nvme' | 'sha1' | 'sha256' | 'md5';

/** Of one body. */
export type Checksums = ReadonlyMap<ChecksumAlgorithm, Buffer>;

export interface Checksum {
  update(data: Buffer): void;
  /** Big-endian; once. */
  digest(): Buffer;
}

let tables: Int32Array | undefined;
const slices = 8;

const polynomial = 0x82f63b78;

const of = (table: Int32Array, index: number): number => table[index] as number;

/** Bytes of a digest. */
export const digestLength: Readonly<Record<ChecksumAlgorithm, number>> = {
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  sha1: 20,
  sha256: 32,
  md5: 16,
};

export function createChecksum(algorithm: ChecksumAlgorithm): Checksum {
  switch (algorithm) {
    case 'crc32':
      return new RunningCrc32(crc32);
    case 'crc32c':
      return new RunningCrc32(crc32c);
    case 'crc64nvme':
      return new Crc64Nvme();
    default:
      return createHash(algorithm);
  }
}

class RunningCrc32 implements Checksum {
  #value = 0;
  readonly #continue: (data: Buffer, previous: number) => number;

  constructor(continueFrom: (data: Buffer, previous: number) => number) {
    this.#continue = continueFrom;
  }

  update(data: Buffer): void {
    this.#value = this.#continue(data, this.#value);
  }

  digest(): Buffer {
    const out = Buffer.allocUnsafe(4);
    out.writeInt32BE(this.#value | 0);
    return out;
  }
}

/** Eight tables of 256 entries: entry [s][b] is the remainder of byte `b` followed by `s` zero bytes. */
function buildTables(): Int32Array {
  const built = new Int32Array(slices * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    built[byte] = crc;
  }
  for (let at = 256; at < built.length; at++) {
    const shorter = built[at - 256] as number;
    built[at] = (shorter >>> 8) ^ (built[shorter & 255] as number);
  }
  return built;
}

/** CRC-32C (Castagnoli) of `data`, continuing from `previous`; a signed 32-bit integer. */
function crc32c(data: Buffer, previous = 0): number {
  tables ??= buildTables();
  const t = tables;
  const whole = data.length - (data.length % slices);
  let crc = ~previous;
  let at = 0;
  for (; at < whole; at += slices) {
    const a = crc ^ data.readInt32LE(at);
    const b = data.readInt32LE(at + 4);
    crc =
      of(t, 1792 + (a & 255)) ^
      of(t, 1536 + ((a >>> 8) & 255)) ^
      of(t, 1280 + ((a >>> 16) & 255)) ^
      of(t, 1024 + (a >>> 24)) ^
      of(t, 768 + (b & 255)) ^
      of(t, 512 + ((b >>> 8) & 255)) ^
      of(t, 256 + ((b >>> 16) & 255)) ^
      of(t, b >>> 24);
  }
  for (; at < data.length; at++) crc = (crc >>> 8) ^ of(t, (crc ^ data.readUInt8(at)) & 255);
  return ~crc;
}

/** A digest of the plaintext that the caller announced. */
export interface Expectation {
  readonly algorithm: ChecksumAlgorithm;
  readonly source: 'content-md5' | 'content-sha256' | 'header' | 'trailer';
  /** The `x-amz-checksum-…` name, or that of the other header. */
  readonly name: string;
  /** Absent for a trailer: it comes with the end of the body. */
  readonly value?: Buffer;
}

const checksumHeaders: Readonly<Record<string, ChecksumAlgorithm>> = {
  'x-amz-checksum-crc32': 'crc32',
  'x-amz-checksum-crc32c': 'crc32c',
  'x-amz-checksum-crc64nvme': 'crc64nvme',
  'x-amz-checksum-sha1': 'sha1',
  'x-amz-checksum-sha256': 'sha256',
};

/** Those that S3 has headers for. */
export const checksumAlgorithms: readonly ChecksumAlgorithm[] = Object.values(checksumHeaders);

/** Names in this family that are no digests. */
const notDigests = new Set(['x-amz-checksum-algorithm', 'x-amz-checksum-mode', 'x-amz-checksum-type']);

/**
 * All that has to be verified for a body, from its headers.
 * @throws S3Error InvalidDigest for malformed values; InvalidRequest for more than one checksum and unknown ones
 */
export function expectations(headers: IncomingHttpHeaders, mode: PayloadMode): Expectation[] {
  const checksums = [...headerChecksums(headers), ...trailerChecksums(headers, mode)];
  if (checksums.length > 1) {
    throw s3Error(
      'InvalidRequest',
      'Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.',
    );
  }
  return [...contentMd5(headers), ...contentSha256(mode), ...checksums];
}

function contentMd5(headers: IncomingHttpHeaders): Expectation[] {
  const text = headers['content-md5'];
  if (text === undefined) return [];
  const value = decodeDigest(String(text), 'md5', 'Content-MD5');
  return [{ algorithm: 'md5', source: 'content-md5', name: 'content-md5', value }];
}

function contentSha256(mode: PayloadMode): Expectation[] {
  if (mode.kind !== 'literal') return [];
  const value = Buffer.from(mode.sha256, 'hex');
  return [{ algorithm: 'sha256', source: 'content-sha256', name: 'x-amz-content-sha256', value }];
}

function headerChecksums(headers: IncomingHttpHeaders): Expectation[] {
  const names = Object.keys(headers).filter(
    (name) => name.startsWith('x-amz-checksum-') && !notDigests.has(name),
  );
  return names.map((name) => {
    const algorithm = algorithmOf(name);
    return { algorithm, source: 'header', name, value: decodeDigest(String(headers[name]), algorithm, name) };
  });
}

function trailerChecksums(headers: IncomingHttpHeaders, mode: PayloadMode): Expectation[] {
  const announced = headers['x-amz-trailer'];
  if (announced === undefined) return [];
  if (mode.kind !== 'chunked' || !mode.trailer) {
    throw s3Error('InvalidRequest', 'x-amz-trailer needs a payload that is announced with a trailer.');
  }
  const names = String(announced).split(',');
  return names
    .map((name) => name.trim().toLowerCase())
    .map((name) => ({ algorithm: algorithmOf(name), source: 'trailer', name }));
}

function algorithmOf(name: string): ChecksumAlgorithm {
  const algorithm = Object.hasOwn(checksumHeaders, name) ? checksumHeaders[name] : undefined;
  if (!algorithm) throw s3Error('InvalidRequest', `The checksum ${name} is not supported.`);
  return algorithm;
}

/** Strict base64 of a digest of the right length. @throws S3Error InvalidDigest, or InvalidRequest for `x-amz-` headers */
export function decodeDigest(text: string, algorithm: ChecksumAlgorithm, name: string): Buffer {
  const value = Buffer.from(text, 'base64');
  if (value.length === digestLength[algorithm] && value.toString('base64') === text) return value;
  if (algorithm === 'md5')
    throw s3Error('InvalidDigest', undefined, { details: { 'Content-MD5': text.slice(0, 100) } });
  throw s3Error('InvalidRequest', `Value for ${name} is invalid.`);
}
