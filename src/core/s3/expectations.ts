import type { IncomingHttpHeaders } from 'node:http';
import { type ChecksumAlgorithm, digestLength } from './checksum.ts';
import { s3Error } from './error-catalog.ts';
import type { PayloadMode } from './payload.ts';

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
  if (algorithm === 'md5') throw s3Error('InvalidDigest', `The ${name} you specified is not valid.`);
  throw s3Error('InvalidRequest', `Value for ${name} is invalid.`);
}
