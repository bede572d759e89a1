import type { ChecksumAlgorithm, Checksums } from './checksum.ts';
import { scanEntries } from './entry-scan.ts';
import { s3Error } from './error-catalog.ts';
import { unquote } from './etag.ts';
import { checksumAlgorithms, decodeDigest } from './expectations.ts';
import { childText, parseXml } from './xml.ts';
import { element } from './xml-write.ts';

export interface CompletedPart {
  readonly partNumber: number;
  /** Without quotes, in the form that the document has: the caller's when parsed. */
  readonly etag: string;
  /** CRC-32 of the stored part in base64, for the store only. */
  readonly checksum?: string | undefined;
  /** Checksums of the plaintext that the caller names. */
  readonly named?: Checksums;
}

export const maxPartNumber = 10_000;
/** 10,000 parts with every checksum stay well below. */
const maxCompleteBytes = 4 * 1024 * 1024;

/** Element by which documents name a checksum of that kind. */
export const checksumElement = (algorithm: ChecksumAlgorithm): string => `Checksum${algorithm.toUpperCase()}`;

const checksumElements = checksumAlgorithms.map(
  (algorithm) => [checksumElement(algorithm), algorithm] as const,
);

/** The part list of CompleteMultipartUpload. @throws S3Error MalformedXML, InvalidPartOrder, InvalidPart, InvalidRequest */
export function parseCompleteMultipart(xml: string): CompletedPart[] {
  const texts = Buffer.byteLength(xml) <= maxCompleteBytes ? scanParts(xml) : undefined;
  const parts = (texts ?? parseParts(xml)).slice(0, maxPartNumber + 1).map(readPart);
  if (parts.length === 0 || parts.length > maxPartNumber) throw s3Error('MalformedXML');
  const ascending = parts.every(({ partNumber }, index) => partNumber > (parts[index - 1]?.partNumber ?? 0));
  if (!ascending) throw s3Error('InvalidPartOrder');
  return parts;
}

/** Text of a field of one `<Part>`. */
type PartTexts = (name: string) => string | undefined;

const shape = {
  root: 'CompleteMultipartUpload',
  entries: ['Part'],
  fields: ['PartNumber', 'ETag', ...checksumElements.map(([name]) => name)],
};

const scanParts = (xml: string): PartTexts[] | undefined =>
  scanEntries(xml, shape)?.entries.map((part) => (name) => part.get(name));

function parseParts(xml: string): PartTexts[] {
  const root = parseXml(xml, 'CompleteMultipartUpload', maxCompleteBytes);
  return (root.children.get('Part') ?? []).map((part) => (name) => childText(part, name));
}

function readPart(text: PartTexts): CompletedPart {
  const number = text('PartNumber')?.trim() ?? '';
  const etag = text('ETag')?.trim();
  if (!/^\d{1,9}$/.test(number) || etag === undefined) throw s3Error('MalformedXML');
  const partNumber = parsePartNumber(number);
  if (etag === '') throw s3Error('InvalidPart');
  const named = namedChecksums(text);
  return { partNumber, etag: unquote(etag), ...(named !== undefined && { named }) };
}

function namedChecksums(text: PartTexts): Checksums | undefined {
  let named: Map<ChecksumAlgorithm, Buffer> | undefined;
  for (const [name, algorithm] of checksumElements) {
    const value = text(name)?.trim();
    if (!value) continue;
    named ??= new Map();
    named.set(algorithm, decodeDigest(value, algorithm, name));
  }
  return named;
}

/** `partNumber` of a query or document: 1 to 10,000. @throws S3Error InvalidArgument */
export function parsePartNumber(text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= maxPartNumber) return number;
  throw s3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive', {
    details: { ArgumentName: 'partNumber', ArgumentValue: text.slice(0, 20) },
  });
}

/** The document for the store: numbers, ETags and checksums as the store has them; a caller's would be of plaintext. */
export function completeMultipartXml(parts: readonly CompletedPart[]): string {
  const list = parts.map(
    ({ partNumber, etag, checksum }) =>
      `<Part>${element('PartNumber', partNumber)}${element('ETag', `"${etag}"`)}${checksum === undefined ? '' : element('ChecksumCRC32', checksum)}</Part>`,
  );
  const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  return `<CompleteMultipartUpload ${namespace}>${list.join('')}</CompleteMultipartUpload>`;
}
