import { s3Error } from '../../../../core/s3/error-catalog.ts';
import type { Query } from '../../../../core/s3/request.ts';
import { element } from '../../../../core/s3/xml-write.ts';
import { isoTime, namespace, owner, quoted } from '../documents.ts';
import type { StoreExchange, StoreHandler } from '../exchange.ts';
import type { StoredObject } from '../model.ts';
import { echoXml, firstOf, nameWriter, type Page, pageRequest, prefixesXml, takePage } from '../page.ts';

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
  readonly page: Page<StoredObject>;
  readonly write: ReturnType<typeof nameWriter>;
  /** The objects, each with what `more` adds. */
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

function objectXml({ key, modified, etag, size, headers }: StoredObject, write: Listing['write']): string {
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
