import type { IncomingHttpHeaders } from 'node:http';
import { s3Error } from '../../../objects/s3/error.ts';
import {
  maxUserMetadata,
  unquote,
  userMetadataSize,
  withoutAwsChunked,
} from '../../../objects/s3/headers.ts';
import { parseQueryEntries } from '../../../objects/s3/request.ts';
import { type DocumentShape, type Fields, scanDocument } from '../../../objects/s3/xml-document.ts';
import { element } from '../../../objects/s3/xml-text.ts';

/** Stored bytes, shared by an object and its copies. */
export interface BlobRef {
  readonly id: string;
  /** Bytes. */
  readonly size: number;
}

type Tags = readonly (readonly [name: string, value: string])[];

/** What a write specifies about an object besides its body. */
export interface Description {
  /** Content headers and user metadata, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tags: Tags;
}

export interface DevObject extends Description {
  readonly bucket: string;
  readonly key: string;
  /** Without quotes: MD5 in hexadecimal, for several parts `md5-N`. */
  readonly etag: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** In order; one blob per part for a multipart object. */
  readonly content: readonly BlobRef[];
}

export interface Upload extends Description {
  readonly id: string;
  readonly bucket: string;
  readonly key: string;
  readonly begun: number;
}

export interface Part {
  readonly number: number;
  readonly etag: string;
  readonly blob: BlobRef | undefined;
  readonly modified: number;
}

export const partSize = ({ blob }: Part): number => blob?.size ?? 0;

const mostTags = 10;
export const maxTaggingBytes = 64 * 1024;

/** `x-amz-tagging`: `name=value&name=value`. @throws S3Error InvalidArgument */
function parseTagHeader(header: string | string[] | undefined): Tags {
  return header === undefined ? [] : checked(parseQueryEntries(String(header)));
}

/** A `Tagging` document. @throws S3Error MalformedXML, InvalidArgument */
export function parseTagging(xml: Buffer): Tags {
  return checked(scanDocument(xml, tagging, readTag).entries);
}

const tagging: DocumentShape = { root: 'Tagging', entries: ['TagSet/Tag'], fields: ['Key', 'Value'] };

function readTag(tag: Fields): [string, string] {
  const [name, value] = [tag.get('Key'), tag.get('Value')];
  if (name === undefined || value === undefined) throw s3Error('MalformedXML');
  return [name, value];
}

function checked(tags: Tags): Tags {
  const names = new Set(tags.map(([name]) => name));
  if (tags.length > mostTags || names.size < tags.length || names.has(''))
    throw s3Error('InvalidArgument', 'An object has at most ten tags, each of another name.');
  return tags;
}

export function taggingXml(tags: Tags): string {
  const list = tags.map(([name, value]) => `<Tag>${element('Key', name)}${element('Value', value)}</Tag>`);
  return `<Tagging ${namespace}><TagSet>${list.join('')}</TagSet></Tagging>`;
}

export const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

const ownerId = 'svc-dev';
export const owner = `<Owner>${element('ID', ownerId)}${element('DisplayName', ownerId)}</Owner>`;

export const quoted = (etag: string): string => `"${etag}"`;

/** ISO 8601, from milliseconds since 1970. */
export const isoTime = (time: number): string => new Date(time).toISOString();

const kept = new Set([
  'cache-control',
  'content-disposition',
  'content-language',
  'content-type',
  'expires',
  'x-amz-storage-class',
  'x-amz-website-redirect-location',
]);

/** The object's description from the headers of a write. @throws S3Error MetadataTooLarge, InvalidArgument */
export function describeObject(headers: IncomingHttpHeaders): Description {
  if (userMetadataSize(headers) > maxUserMetadata) throw s3Error('MetadataTooLarge');
  const encoding = withoutAwsChunked(headers['content-encoding']);
  const own: Record<string, string> = { 'content-type': 'binary/octet-stream' };
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && (kept.has(name) || name.startsWith('x-amz-meta-'))) own[name] = value;
  }
  if (encoding !== undefined) own['content-encoding'] = encoding;
  return { headers: own, tags: parseTagHeader(headers['x-amz-tagging']) };
}

type Facts = Pick<DevObject, 'etag' | 'modified'>;
export type ReadVerdict = 'serve' | 'not-modified' | 'failed';

/** Evaluates the conditions of a read or, with the prefix `x-amz-copy-source-`, of a copy on its source. */
export function judgeRead(headers: IncomingHttpHeaders, object: Facts, prefix = ''): ReadVerdict {
  const value = (name: string) => text(headers[prefix + name]);
  const match = value('if-match');
  const noneMatch = value('if-none-match');
  if (match !== undefined && !names(match, object.etag)) return 'failed';
  if (match === undefined && isAfter(object, value('if-unmodified-since'))) return 'failed';
  if (noneMatch !== undefined) return names(noneMatch, object.etag) ? 'not-modified' : 'serve';
  const since = value('if-modified-since');
  return since !== undefined && !isAfter(object, since) ? 'not-modified' : 'serve';
}

/**
 * Checks the conditions of a write on the object that it replaces.
 * @throws S3Error PreconditionFailed, NoSuchKey, NotImplemented
 */
export function checkWrite(headers: IncomingHttpHeaders, existing: Facts | undefined): void {
  const noneMatch = text(headers['if-none-match']);
  const match = text(headers['if-match']);
  if (noneMatch !== undefined && noneMatch !== '*')
    throw s3Error('NotImplemented', 'A write takes If-None-Match with * only.');
  if (noneMatch !== undefined && existing !== undefined) throw s3Error('PreconditionFailed');
  if (match === undefined) return;
  if (existing === undefined) throw s3Error('NoSuchKey');
  if (!names(match, existing.etag)) throw s3Error('PreconditionFailed');
}

/** Whether a header of ETags names this one. */
export function names(list: string, etag: string): boolean {
  return list.split(',').some((item) => {
    const name = item.trim().replace(/^W\//, '');
    return name === '*' || unquote(name) === etag;
  });
}

/** HTTP dates have whole seconds; one that cannot be parsed counts as not given. */
function isAfter({ modified }: Facts, date: string | undefined): boolean {
  const time = date === undefined ? Number.NaN : Date.parse(date);
  return !Number.isNaN(time) && Math.floor(modified / 1000) * 1000 > time;
}

const text = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;
