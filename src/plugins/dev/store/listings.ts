import { s3Error } from '../../../objects/s3/error.ts';
import { encodeKey, type Query } from '../../../objects/s3/request.ts';
import { element } from '../../../objects/s3/xml-text.ts';
import type { Bucket } from './catalog.ts';
import { compareKeys } from './catalog.ts';
import type { StoreExchange, StoreHandler } from './exchange.ts';
import {
  type DevObject,
  isoTime,
  namespace,
  owner,
  type Part,
  partSize,
  quoted,
  type Upload,
} from './object.ts';

export interface PageRequest {
  readonly prefix: string;
  /** Empty for no grouping. */
  readonly delimiter: string;
  /** Where the page begins: after this key or common prefix; empty for the first page. */
  readonly after: string;
  readonly max: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly prefixes: readonly string[];
  /** The last key or prefix of the page; undefined on the last page. */
  readonly next: string | undefined;
}

const mostKeys = 1000;

/** One page of `entries`, which are sorted and begin at `after` or the prefix, whichever comes later. */
export function takePage<T>(
  entries: Iterable<readonly [key: string, value: T]>,
  request: PageRequest,
): Page<T> {
  const { prefix, after, max } = request;
  const items: T[] = [];
  const prefixes: string[] = [];
  let last = '';
  if (max === 0) return { items, prefixes, next: undefined };
  for (const [key, value] of entries) {
    if (!key.startsWith(prefix)) break;
    const group = groupOf(key, request);
    if (group === undefined ? compareKeys(key, after) <= 0 : group === after || group === prefixes.at(-1))
      continue;
    if (items.length + prefixes.length === max) return { items, prefixes, next: last };
    last = group ?? key;
    if (group === undefined) items.push(value);
    else prefixes.push(group);
  }
  return { items, prefixes, next: undefined };
}

/** @throws S3Error InvalidArgument */
function pageRequest(query: Query, after: string, maxName: string): PageRequest {
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    after,
    max: pageSize(query, maxName),
  };
}

/** At most 1,000. @throws S3Error InvalidArgument */
function pageSize(query: Query, name: string): number {
  const text = query.get(name) || String(mostKeys);
  if (!/^\d{1,9}$/.test(text))
    throw s3Error('InvalidArgument', `${name} must be a number from 0 on.`, {
      details: { ArgumentName: name },
    });
  return Math.min(Number(text), mostKeys);
}

/** The common prefix under which the key is grouped, if any. */
function groupOf(key: string, { prefix, delimiter }: PageRequest): string | undefined {
  const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
  return at < 0 ? undefined : key.slice(0, at + delimiter.length);
}

/** Where a page's entries begin. */
export function firstOf({ prefix, after }: PageRequest): string {
  return compareKeys(after, prefix) > 0 ? after : prefix;
}

/** Writes names, percent-encoded with `encoding-type=url`. @throws S3Error InvalidArgument */
function nameWriter(query: Query): (name: string, text: string) => string {
  const encoding = query.get('encoding-type');
  if (encoding !== undefined && encoding !== 'url')
    throw s3Error('InvalidArgument', 'Invalid Encoding Method specified in Request');
  return (name, text) => element(name, encoding === 'url' ? encodeKey(text) : text);
}

type Write = ReturnType<typeof nameWriter>;

const prefixesXml = (prefixes: readonly string[], write: Write): string =>
  prefixes.map((prefix) => `<CommonPrefixes>${write('Prefix', prefix)}</CommonPrefixes>`).join('');

/** The given parameters that every listing repeats. */
function echoXml(query: Query, write: Write): string {
  const delimiter = query.get('delimiter');
  const encoding = query.get('encoding-type');
  return [
    write('Prefix', query.get('prefix') ?? ''),
    delimiter ? write('Delimiter', delimiter) : '',
    encoding === undefined ? '' : element('EncodingType', encoding),
  ].join('');
}

/** ListObjects, version 1: `marker`. */
export const listObjects: StoreHandler = (exchange) => {
  const marker = exchange.request.query.get('marker') ?? '';
  list(exchange, 'ListBucketResult', marker, ({ query, page, write, entries }) => [
    write('Marker', marker),
    page.next !== undefined && query.get('delimiter') ? write('NextMarker', page.next) : '',
    entries('Contents', () => owner),
  ]);
};

/** ListObjectsV2: `start-after` and `continuation-token`. */
export const listObjectsV2: StoreHandler = (exchange) => {
  const { query } = exchange.request;
  const token = query.get('continuation-token');
  const startAfter = query.get('start-after') ?? '';
  const from = token === undefined ? startAfter : readToken(token);
  list(exchange, 'ListBucketResult', from, ({ page, write, entries }) => [
    element('KeyCount', page.items.length + page.prefixes.length),
    startAfter ? write('StartAfter', startAfter) : '',
    token === undefined ? '' : element('ContinuationToken', token),
    page.next === undefined ? '' : element('NextContinuationToken', writeToken(page.next)),
    entries('Contents', () => (query.get('fetch-owner') === 'true' ? owner : '')),
  ]);
};

/** Every object is its only version. */
export const listObjectVersions: StoreHandler = (exchange) => {
  const marker = exchange.request.query.get('key-marker') ?? '';
  list(exchange, 'ListVersionsResult', marker, ({ page, write, entries }) => [
    write('KeyMarker', marker),
    page.next === undefined ? '' : write('NextKeyMarker', page.next) + element('NextVersionIdMarker', 'null'),
    entries('Version', () => element('VersionId', 'null') + element('IsLatest', true) + owner),
  ]);
};

interface Listing {
  readonly query: Query;
  readonly page: Page<DevObject>;
  readonly write: ReturnType<typeof nameWriter>;
  /** The objects as elements, with further fields from `more`. */
  readonly entries: (name: string, more: () => string) => string;
}

function list(
  { catalog, request, reply }: StoreExchange,
  root: string,
  after: string,
  own: (listing: Listing) => readonly string[],
): void {
  const { query } = request;
  const bucket = catalog.bucket(request.bucket);
  const wanted = pageRequest(query, after, 'max-keys');
  const write = nameWriter(query);
  const page = takePage(bucket.objects.from(firstOf(wanted)), wanted);
  const entries = (name: string, more: () => string) =>
    page.items.map((object) => `<${name}>${objectXml(object, write)}${more()}</${name}>`).join('');
  const fields = [
    element('Name', bucket.name),
    echoXml(query, write),
    element('MaxKeys', wanted.max),
    element('IsTruncated', page.next !== undefined),
    ...own({ query, page, write, entries }),
    prefixesXml(page.prefixes, write),
  ];
  reply.xml(200, `<${root} ${namespace}>${fields.join('')}</${root}>`);
}

function objectXml({ key, modified, etag, size, headers }: DevObject, write: Listing['write']): string {
  return [
    write('Key', key),
    element('LastModified', isoTime(modified)),
    element('ETag', quoted(etag)),
    element('Size', size),
    element('StorageClass', headers['x-amz-storage-class'] ?? 'STANDARD'),
  ].join('');
}

const writeToken = (key: string): string => Buffer.from(key).toString('base64url');

function readToken(token: string): string {
  const key = Buffer.from(token, 'base64url').toString();
  if (key !== '' && writeToken(key) === token) return key;
  throw s3Error('InvalidArgument', 'The continuation token provided is incorrect');
}

export const listParts: StoreHandler = ({ catalog, request, reply }) => {
  const { bucket, key, query } = request;
  const { upload, parts } = catalog.bucket(bucket).upload(key, query.get('uploadId'));
  const marker = Number(query.get('part-number-marker') ?? 0);
  const max = pageSize(query, 'max-parts');
  const rest = [...parts.values()].filter(({ number }) => number > marker).sort(byNumber);
  const shown = rest.slice(0, max);
  const isTruncated = shown.length < rest.length;
  const fields = [
    element('Bucket', bucket),
    element('Key', key),
    element('UploadId', upload.id),
    owner,
    element('StorageClass', 'STANDARD'),
    element('PartNumberMarker', marker),
    // The SDK's paginator continues while this element is present.
    ...(isTruncated ? [element('NextPartNumberMarker', shown.at(-1)?.number ?? 0)] : []),
    element('MaxParts', max),
    element('IsTruncated', isTruncated),
    ...shown.map(partXml),
  ];
  reply.xml(200, `<ListPartsResult ${namespace}>${fields.join('')}</ListPartsResult>`);
};

const byNumber = (left: Part, right: Part): number => left.number - right.number;

function partXml(part: Part): string {
  const fields = [
    element('PartNumber', part.number),
    element('LastModified', isoTime(part.modified)),
    element('ETag', quoted(part.etag)),
    element('Size', partSize(part)),
  ];
  return `<Part>${fields.join('')}</Part>`;
}

const separator = '\0';

/** ListMultipartUploads: by key, then by upload id. */
export const listUploads: StoreHandler = ({ catalog, request, reply }) => {
  const { query } = request;
  const bucket = catalog.bucket(request.bucket);
  const wanted = pageRequest(query, markerOf(query), 'max-uploads');
  const write = nameWriter(query);
  const page = takePage(entriesOf(bucket, wanted.prefix), wanted);
  const [nextKey = '', nextId = ''] = page.next?.split(separator) ?? [];
  const fields = [
    element('Bucket', bucket.name),
    write('KeyMarker', query.get('key-marker') ?? ''),
    element('UploadIdMarker', query.get('upload-id-marker') ?? ''),
    page.next === undefined ? '' : write('NextKeyMarker', nextKey) + element('NextUploadIdMarker', nextId),
    echoXml(query, write),
    element('MaxUploads', wanted.max),
    element('IsTruncated', page.next !== undefined),
    ...page.items.map((upload) => uploadXml(upload, write)),
    prefixesXml(page.prefixes, write),
  ];
  const root = 'ListMultipartUploadsResult';
  reply.xml(200, `<${root} ${namespace}>${fields.join('')}</${root}>`);
};

/**
 * An entry's name is its key, a NUL (which no key contains) and its id; without an id the marker is after all uploads
 * of the key.
 */
function markerOf(query: Query): string {
  const key = query.get('key-marker') ?? '';
  if (key === '') return '';
  const id = query.get('upload-id-marker');
  return id ? `${key}${separator}${id}` : isGroup(query, key) ? key : `${key}\x01`;
}

const isGroup = (query: Query, key: string): boolean => {
  const delimiter = query.get('delimiter');
  return delimiter ? key.endsWith(delimiter) : false;
};

function entriesOf({ uploads }: Bucket, prefix: string): (readonly [string, Upload])[] {
  return [...uploads.values()]
    .map(({ upload }) => [`${upload.key}${separator}${upload.id}`, upload] as const)
    .filter(([name]) => name.startsWith(prefix))
    .sort(([left], [right]) => compareKeys(left, right));
}

function uploadXml({ key, id, begun }: Upload, write: ReturnType<typeof nameWriter>): string {
  const fields = [
    write('Key', key),
    element('UploadId', id),
    owner,
    element('StorageClass', 'STANDARD'),
    element('Initiated', isoTime(begun)),
  ];
  return `<Upload>${fields.join('')}</Upload>`;
}
