import { scanEntries } from './entry-scan.ts';
import { s3Error } from './error-catalog.ts';
import { unquote } from './etag.ts';
import { childText, parseXml } from './xml.ts';
import { element } from './xml-write.ts';

export interface CompletedPart {
  readonly partNumber: number;
  /** Without quotes, in the form that the document has: the caller's when parsed. */
  readonly etag: string;
  /** CRC-32 of the stored part in base64, for the store only. */
  readonly checksum?: string | undefined;
}

export const maxPartNumber = 10_000;
/** 10,000 parts with every checksum stay well below. */
const maxCompleteBytes = 4 * 1024 * 1024;

/** The part list of CompleteMultipartUpload. @throws S3Error MalformedXML, InvalidPartOrder, InvalidPart */
export function parseCompleteMultipart(xml: string): CompletedPart[] {
  const fields = Buffer.byteLength(xml) <= maxCompleteBytes ? scanParts(xml) : undefined;
  const parts = (fields ?? parseParts(xml)).map(readPart);
  if (parts.length === 0 || parts.length > maxPartNumber) throw s3Error('MalformedXML');
  const ascending = parts.every(({ partNumber }, index) => partNumber > (parts[index - 1]?.partNumber ?? 0));
  if (!ascending) throw s3Error('InvalidPartOrder');
  return parts;
}

/** The fields of one `<Part>` that decide what is completed. */
interface PartFields {
  readonly number: string | undefined;
  readonly etag: string | undefined;
}

const shape = { root: 'CompleteMultipartUpload', entries: ['Part'], fields: ['PartNumber', 'ETag'] };

function scanParts(xml: string): PartFields[] | undefined {
  const scanned = scanEntries(xml, shape)?.entries;
  return scanned?.map((part) => ({ number: part.get('PartNumber'), etag: part.get('ETag') }));
}

function parseParts(xml: string): PartFields[] {
  const root = parseXml(xml, 'CompleteMultipartUpload', maxCompleteBytes);
  return (root.children.get('Part') ?? []).map((part) => ({
    number: childText(part, 'PartNumber'),
    etag: childText(part, 'ETag'),
  }));
}

function readPart(fields: PartFields): CompletedPart {
  const number = fields.number?.trim() ?? '';
  const etag = fields.etag?.trim();
  if (!/^\d{1,9}$/.test(number) || etag === undefined) throw s3Error('MalformedXML');
  const partNumber = parsePartNumber(number);
  if (etag === '') throw s3Error('InvalidPart');
  return { partNumber, etag: unquote(etag) };
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
