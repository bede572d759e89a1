import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import { Crc64Nvme } from './crc64nvme.ts';
import { s3Error } from './error.ts';
import type { PayloadMode } from './sigv4-sign.ts';
import { loadXxhash, Xxhash, type XxhashAlgorithm } from './xxhash.ts';

export type ChecksumAlgorithm =
  | 'crc32'
  | 'crc32c'
  | 'crc64nvme'
  | 'sha1'
  | 'sha256'
  | 'sha512'
  | 'md5'
  | XxhashAlgorithm;

/** Checksums of one body. */
export type Checksums = ReadonlyMap<ChecksumAlgorithm, Buffer>;

export interface Checksum {
  update(data: Buffer): void;
  /** Big-endian; may be called once. */
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
  sha512: 64,
  md5: 16,
  xxhash64: 8,
  xxhash3: 8,
  xxhash128: 16,
};

/** Await before creating any of these checksums; undefined if they are already available, as most are. */
export function loadChecksums(algorithms: readonly ChecksumAlgorithm[]): Promise<void> | undefined {
  const loaded = algorithms.filter(isXxhash);
  return loaded.length === 0 ? undefined : loadAll(loaded);
}

const isXxhash = (algorithm: ChecksumAlgorithm): algorithm is XxhashAlgorithm =>
  algorithm.startsWith('xxhash');

async function loadAll(algorithms: readonly XxhashAlgorithm[]): Promise<void> {
  await Promise.all(algorithms.map(loadXxhash));
}

export function createChecksum(algorithm: ChecksumAlgorithm): Checksum {
  switch (algorithm) {
    case 'crc32':
      return new RunningCrc32(crc32);
    case 'crc32c':
      return new RunningCrc32(crc32c);
    case 'crc64nvme':
      return new Crc64Nvme();
    case 'xxhash64':
    case 'xxhash3':
    case 'xxhash128':
      return new Xxhash(algorithm);
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

/** How the checksum of an object in parts is calculated: as if it were one body, or over the checksums of the parts. */
export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE';

/** A checksum of the whole object, as in responses. */
export interface WholeChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly type: ChecksumType;
  /** Base64; a composite checksum ends in `-` and the number of parts. */
  readonly text: string;
}

export const toldChecksum = (
  { algorithm, type }: Omit<WholeChecksum, 'text'>,
  digest: Buffer,
  parts: number,
): WholeChecksum => {
  const count = type === 'COMPOSITE' ? `-${parts}` : '';
  return { algorithm, type, text: digest.toString('base64') + count };
};

/** A digest of the plaintext that the caller announced. */
export interface Expectation {
  readonly algorithm: ChecksumAlgorithm;
  readonly source: 'content-md5' | 'content-sha256' | 'header' | 'trailer';
  /** The name of its header or trailer. */
  readonly name: string;
  /** Absent for a trailer, which arrives at the end of the body. */
  readonly value?: Buffer;
}

const checksumHeaders: Readonly<Record<string, ChecksumAlgorithm>> = {
  'x-amz-checksum-crc32': 'crc32',
  'x-amz-checksum-crc32c': 'crc32c',
  'x-amz-checksum-crc64nvme': 'crc64nvme',
  'x-amz-checksum-md5': 'md5',
  'x-amz-checksum-sha1': 'sha1',
  'x-amz-checksum-sha256': 'sha256',
  'x-amz-checksum-sha512': 'sha512',
  'x-amz-checksum-xxhash64': 'xxhash64',
  'x-amz-checksum-xxhash3': 'xxhash3',
  'x-amz-checksum-xxhash128': 'xxhash128',
};

export const checksumAlgorithms: readonly ChecksumAlgorithm[] = Object.values(checksumHeaders);

/** Headers of this family that are not digests. */
const notDigests = new Set(['x-amz-checksum-algorithm', 'x-amz-checksum-mode', 'x-amz-checksum-type']);

/**
 * Everything to verify for a body, according to its headers.
 * @throws S3Error InvalidDigest for malformed values; InvalidRequest for several or unknown checksums
 */
export function expectations(headers: IncomingHttpHeaders, mode: PayloadMode): Expectation[] {
  const inHeaders = digestHeaders(headers);
  const trailers = announcedTrailers(headers, mode);
  if (inHeaders.length + trailers.length > 1) throw manyChecksums();
  const checksums = [
    ...inHeaders.map((name) => headerChecksum(headers, name)),
    ...trailers.map(trailerChecksum),
  ];
  const named = headers['x-amz-sdk-checksum-algorithm'];
  if (named !== undefined && checksums.some(({ algorithm }) => algorithm !== String(named).toLowerCase()))
    throw s3Error('InvalidRequest', 'Value for x-amz-sdk-checksum-algorithm header is invalid.');
  return [...contentMd5(headers), ...contentSha256(mode), ...checksums];
}

export const manyChecksums = () =>
  s3Error(
    'InvalidRequest',
    'Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.',
  );

function contentMd5(headers: IncomingHttpHeaders): Expectation[] {
  const text = headers['content-md5'];
  if (text === undefined) return [];
  if (!isDigest(String(text), 'md5'))
    throw s3Error('InvalidDigest', 'The Content-Md5 you specified is not valid.', {
      details: { 'Content-MD5': String(text) },
    });
  const value = Buffer.from(String(text), 'base64');
  return [{ algorithm: 'md5', source: 'content-md5', name: 'content-md5', value }];
}

function contentSha256(mode: PayloadMode): Expectation[] {
  if (mode.kind !== 'literal') return [];
  const value = Buffer.from(mode.sha256, 'hex');
  return [{ algorithm: 'sha256', source: 'content-sha256', name: 'x-amz-content-sha256', value }];
}

const digestHeaders = (headers: IncomingHttpHeaders): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('x-amz-checksum-') && !notDigests.has(name));

function headerChecksum(headers: IncomingHttpHeaders, name: string): Expectation {
  const algorithm = algorithmOf(name);
  const value = decodeDigest(String(headers[name]), algorithm, `${name} header`);
  return { algorithm, source: 'header', name, value };
}

function announcedTrailers(headers: IncomingHttpHeaders, mode: PayloadMode): string[] {
  const announced = headers['x-amz-trailer'];
  if (announced === undefined) return [];
  if (mode.kind !== 'chunked' || !mode.trailer) {
    throw s3Error('InvalidRequest', 'x-amz-trailer needs a payload that is announced with a trailer.');
  }
  const names = String(announced).split(',');
  return names.map((name) => name.trim().toLowerCase());
}

const trailerChecksum = (name: string): Expectation => ({
  algorithm: algorithmOf(name),
  source: 'trailer',
  name,
});

function algorithmOf(name: string): ChecksumAlgorithm {
  const algorithm = Object.hasOwn(checksumHeaders, name) ? checksumHeaders[name] : undefined;
  if (!algorithm) throw s3Error('InvalidRequest', `The checksum ${name} is not supported.`);
  return algorithm;
}

/**
 * Decodes a base64 digest.
 * @param what names the place in the error message
 * @throws S3Error InvalidRequest
 */
export function decodeDigest(text: string, algorithm: ChecksumAlgorithm, what: string): Buffer {
  if (isDigest(text, algorithm)) return Buffer.from(text, 'base64');
  throw s3Error('InvalidRequest', `Value for ${what} is invalid.`);
}

/**
 * Padded base64 of the algorithm's digest length; bits left over by the padding may have any value, as stores accept.
 */
export const isDigest = (text: string, algorithm: ChecksumAlgorithm): boolean =>
  text.length === 4 * Math.ceil(digestLength[algorithm] / 3) &&
  /^[A-Za-z0-9+/]+={0,2}$/.test(text) &&
  (text.length / 4) * 3 - padding(text) === digestLength[algorithm];

const padding = (text: string): number => (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);
