import { bytesOfPieces } from '../../runtime/bounds/block-body.ts';
import {
  type ChecksumAlgorithm,
  type Checksums,
  checksumAlgorithms,
  isDigest,
  type WholeChecksum,
} from './checksum.ts';
import { s3Error } from './error.ts';
import { unquote } from './headers.ts';
import { type DocumentShape, type Fields, scanDocument } from './xml-document.ts';
import { scanXml } from './xml-scan.ts';
import { element } from './xml-text.ts';

export interface CompletedPart {
  readonly partNumber: number;
  /** Unquoted; the caller's ETag after parsing, the store's in a document for the store. */
  readonly etag: string;
  /** Base64 CRC-32 of the stored part, only for the store. */
  readonly checksum?: string | undefined;
  /** Plaintext checksums that the caller names. */
  readonly named?: Checksums;
}

export const maxPartNumber = 10_000;
/** 10,000 parts with every checksum stay well below. */
const maxCompleteBytes = 4 * 1024 * 1024;

/** Name of the element for a checksum of this algorithm. */
export const checksumElement = (algorithm: ChecksumAlgorithm): string => `Checksum${algorithm.toUpperCase()}`;

/** The checksum of a whole object, as elements. */
export const checksumFields = ({ algorithm, type, text }: WholeChecksum): string[] => [
  element(checksumElement(algorithm), text),
  element('ChecksumType', type),
];

const checksumElements = checksumAlgorithms.map(
  (algorithm) => [checksumElement(algorithm), algorithm] as const,
);

/**
 * Parses the part list of CompleteMultipartUpload.
 * @throws S3Error MalformedXML, InvalidArgument, InvalidPartOrder, InvalidPart, InvalidRequest
 */
export function parseCompleteMultipart(xml: Buffer): readonly CompletedPart[] {
  refuseLong(xml, maxCompleteBytes);
  let last = 0;
  let ascending = true;
  const { entries } = scanDocument(xml, partList, (entry) => {
    const part = readPart(entry);
    ascending &&= part.partNumber > last;
    last = part.partNumber;
    return part;
  });
  if (entries.length === 0) throw s3Error('MalformedXML');
  if (!ascending) throw s3Error('InvalidPartOrder');
  return entries;
}

function refuseLong(xml: Buffer, most: number): void {
  if (xml.length > most) throw s3Error('MaxMessageLengthExceeded');
}

const partList: DocumentShape = {
  root: 'CompleteMultipartUpload',
  entries: ['Part'],
  fields: ['PartNumber', 'ETag', ...checksumElements.map(([name]) => name)],
  mostEntries: maxPartNumber,
};

function readPart(part: Fields): CompletedPart {
  const number = part.get('PartNumber')?.trim() ?? '';
  const etag = part.get('ETag')?.trim();
  if (!/^-?\d{1,9}$/.test(number) || etag === undefined) throw s3Error('MalformedXML');
  const partNumber = Number(number);
  if (partNumber < 1)
    throw s3Error('InvalidArgument', 'PartNumber must be >= 1', {
      details: { ArgumentName: 'PartNumber', ArgumentValue: number },
    });
  if (etag === '' || partNumber > maxPartNumber) throw s3Error('InvalidPart');
  const named = namedChecksums(part);
  const plain = unquote(etag);
  return named === undefined ? { partNumber, etag: plain } : { partNumber, etag: plain, named };
}

function namedChecksums(part: Fields): Checksums | undefined {
  let named: Map<ChecksumAlgorithm, Buffer> | undefined;
  for (const [name, algorithm] of checksumElements) {
    const value = part.get(name)?.trim();
    if (!value) continue;
    if (named !== undefined || !isDigest(value, algorithm)) throw badPartChecksum(value);
    named = new Map<ChecksumAlgorithm, Buffer>().set(algorithm, Buffer.from(value, 'base64'));
  }
  return named;
}

const badPartChecksum = (value: string) =>
  s3Error('InvalidArgument', 'Invalid Base64 or multiple checksums present in request', {
    details: { ArgumentName: 'Checksum', ArgumentValue: value.slice(0, 200) },
  });

/** Parses `partNumber` of a query or document: 1 to 10,000. @throws S3Error InvalidArgument */
export function parsePartNumber(text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= maxPartNumber) return number;
  throw s3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive.', {
    details: { ArgumentName: 'partNumber', ArgumentValue: text.slice(0, 20) },
  });
}

/** Parts serialized at a time: as one string, 10,000 would take ten times their bytes. */
const partsAtOnce = 100;

/**
 * The document for the store, with the store's numbers, ETags and checksums; the caller's checksums describe the
 * plaintext.
 */
export function completeMultipartXml(parts: readonly CompletedPart[]): Buffer {
  return bytesOfPieces(function* () {
    yield '<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">';
    for (let from = 0; from < parts.length; from += partsAtOnce)
      yield parts
        .slice(from, from + partsAtOnce)
        .map(partXml)
        .join('');
    yield '</CompleteMultipartUpload>';
  });
}

function partXml({ partNumber, etag, checksum }: CompletedPart): string {
  const sum = checksum === undefined ? '' : element('ChecksumCRC32', checksum);
  return `<Part>${element('PartNumber', partNumber)}${element('ETag', `"${etag}"`)}${sum}</Part>`;
}

/** ETag, LastModifiedTime and Size are conditions; the ETag is the one in the document. */
export interface ObjectToDelete {
  readonly key: string;
  readonly versionId?: string;
  readonly etag?: string;
  readonly lastModifiedTime?: string;
  /** Plaintext bytes; never sent to a store. */
  readonly size?: number;
}

export interface DeleteObjectsRequest {
  readonly quiet: boolean;
  readonly objects: readonly ObjectToDelete[];
}

const maxObjects = 1000;
/** S3's limit. */
export const maxDeleteBytes = 2 * 1024 * 1024;
/** Limit for a response: the keys of the request, which it may escape at greater length, with a message for each. */
export const maxDeleteResultBytes = 4 * 1024 * 1024;

const conditions = { versionId: 'VersionId', etag: 'ETag', lastModifiedTime: 'LastModifiedTime' } as const;
const conditionNames = Object.keys(conditions) as (keyof typeof conditions)[];

const deletion: DocumentShape = {
  root: 'Delete',
  entries: ['Object'],
  fields: ['Quiet', 'Key', 'Size', ...Object.values(conditions)],
  mostEntries: maxObjects,
};

/**
 * Parses 1 to 1,000 keys, which are unchecked: call `checkKey` for each.
 * @throws S3Error MalformedXML, MissingRequestBodyError
 */
export function parseDeleteObjects(xml: Buffer): DeleteObjectsRequest {
  if (xml.length === 0) throw s3Error('MissingRequestBodyError');
  refuseLong(xml, maxDeleteBytes);
  const { top, entries } = scanDocument(xml, deletion, readObject);
  if (entries.length === 0) throw s3Error('MalformedXML');
  return { quiet: top.get('Quiet')?.trim() === 'true', objects: entries };
}

function readObject(object: Fields): ObjectToDelete {
  const key = object.get('Key');
  if (!key) throw s3Error('MalformedXML');
  const read: Writable<ObjectToDelete> = { key };
  for (const name of conditionNames) {
    const value = object.get(conditions[name]);
    if (value !== undefined) read[name] = value;
  }
  const size = object.get('Size');
  if (size !== undefined) read.size = sizeIn(size);
  return read;
}

type Writable<Type> = { -readonly [name in keyof Type]: Type[name] };

function sizeIn(text: string): number {
  if (!/^\d{1,15}$/.test(text.trim())) throw s3Error('MalformedXML');
  return Number(text);
}

export function deleteObjectsXml({ quiet, objects }: DeleteObjectsRequest): string {
  const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  return `<Delete ${namespace}>${objects.map(objectXml).join('')}${element('Quiet', quiet)}</Delete>`;
}

function objectXml(object: ObjectToDelete): string {
  const rest = conditionNames.map((name) => {
    const value = object[name];
    return value === undefined ? '' : element(conditions[name], value);
  });
  return `<Object>${element('Key', object.key)}${rest.join('')}</Object>`;
}

const maxRestoreBytes = 64 * 1024;
const restore = 'RestoreRequest';
const plain = ['Days', 'GlacierJobParameters', 'Tier', 'Description'];
/** S3's have less than ten. */
const maxRestoreElements = 100;

/**
 * Accepts only a RestoreRequest that brings back the object; one with a selection would make the store write results
 * elsewhere.
 * @throws S3Error MalformedXML, NotImplemented
 */
export function checkRestoreBody(xml: Buffer): void {
  refuseLong(xml, maxRestoreBytes);
  if (xml.toString('latin1').trim() === '') return;
  const visitor = {
    open(name: string | undefined, depth: number) {
      if (depth === 1 && name !== restore) throw s3Error('MalformedXML');
      if (depth === 2 && (name === undefined || name === restore))
        throw s3Error('NotImplemented', `A restore request may have ${plain.join(', ')} here, nothing else.`);
    },
    close() {},
  };
  scanXml(xml, visitor, { names: [restore, ...plain], most: maxRestoreElements });
}
