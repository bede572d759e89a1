import { hash } from 'node:crypto';
import type { ObjectName } from '../format/metadata.ts';
import type { HeldMemory, MemoryBudget } from '../held-memory.ts';
import { s3Error } from '../s3/error.ts';
import { unquote } from '../s3/headers.ts';
import type { DocumentShape, Fields, ScannedDocument } from '../s3/xml-document.ts';
import { beginAnswer, type Upstream, xmlResult } from '../upstream/upstream.ts';

export interface StateObject {
  readonly key: string;
  readonly lastModified: Date | undefined;
}

/** `versionId` is undefined if the bucket keeps no versions. */
export interface StateVersion extends StateObject {
  readonly versionId?: string | undefined;
}

/** Fits 1,000 entries of at most a kilobyte each. */
const pageLimit = 4 * 1024 * 1024;
/** S3 lists 1,000 at a time, MinIO 10,000 uploads. */
const maxEntries = 10_000;
/** For a page of one part. */
const partLimit = 64 * 1024;
/** Uploads of earlier releases have a record for each time that a part was sent. */
const maxPages = 1_000;
/** Characters of a key, or of a token that contains one. */
const maxMarker = 8 * 1024;

interface Listing {
  readonly query: Query;
  readonly shape: DocumentShape;
  /** Elements that hold the values for the next request, by query parameter. */
  readonly markers: Readonly<Record<string, string>>;
}

const objects: Listing = {
  query: [['list-type', '2']],
  shape: {
    root: 'ListBucketResult',
    entries: ['Contents'],
    fields: ['Key', 'LastModified', 'IsTruncated', 'NextContinuationToken'],
  },
  markers: { 'continuation-token': 'NextContinuationToken' },
};
const versions: Listing = {
  query: [['versions', '']],
  shape: {
    root: 'ListVersionsResult',
    entries: ['Version', 'DeleteMarker'],
    fields: ['Key', 'VersionId', 'LastModified', 'IsTruncated', 'NextKeyMarker', 'NextVersionIdMarker'],
  },
  markers: { 'key-marker': 'NextKeyMarker', 'version-id-marker': 'NextVersionIdMarker' },
};
const uploads: Listing = {
  query: [['uploads', '']],
  shape: {
    root: 'ListMultipartUploadsResult',
    entries: ['Upload'],
    fields: ['UploadId', 'IsTruncated', 'NextKeyMarker', 'NextUploadIdMarker'],
  },
  markers: { 'key-marker': 'NextKeyMarker', 'upload-id-marker': 'NextUploadIdMarker' },
};

type Query = readonly (readonly [name: string, value: string])[];

/** Calls a request to the store, and retries it if that may help. */
export type Attempt = <T>(request: (upstream: Upstream) => Promise<T>) => Promise<T>;

/** How pages are requested, and what bounds those in memory; who keeps something of a page accounts for it. */
export interface PageReading {
  readonly attempt: Attempt;
  readonly memory: MemoryBudget;
}

/**
 * Pages of all objects below `prefix`.
 * @param after a key after which they begin
 * @throws errors of `attempt`; S3Error for an endless listing, and SlowDown if there is no memory for a page
 */
export async function* objectPages(
  reading: PageReading,
  bucket: string,
  prefix: string,
  after?: string,
): AsyncGenerator<readonly StateObject[]> {
  const begin: Query = after === undefined ? [] : [['start-after', after]];
  for await (const page of pages(reading, bucket, prefix, objects, begin))
    yield page.entries.map(stateObject);
}

/** Pages of all versions and delete markers below `prefix`. */
export async function* versionPages(
  reading: PageReading,
  bucket: string,
  prefix: string,
): AsyncGenerator<readonly StateVersion[]> {
  for await (const page of pages(reading, bucket, prefix, versions))
    yield page.entries.map((entry) => ({ ...stateObject(entry), versionId: entry.get('VersionId') }));
}

/** Ids of all open multipart uploads. */
export async function* openUploadPages(
  reading: PageReading,
  bucket: string,
): AsyncGenerator<readonly string[]> {
  for await (const page of pages(reading, bucket, '', uploads))
    yield page.entries.map((entry) => entry.get('UploadId') ?? '');
}

async function* pages(
  { attempt, memory }: PageReading,
  bucket: string,
  prefix: string,
  { query, shape, markers }: Listing,
  begin: Query = [],
): AsyncGenerator<ScannedDocument> {
  let next: Query | undefined = begin;
  const begun = new Set<string>();
  while (next) {
    begun.add(digestOf(next));
    const held = memory.hold('pages');
    const wanted = {
      bucket,
      query: [...query, ['prefix', prefix] as const, ...next],
      shape,
      limit: pageLimit,
      held,
    };
    const page = await attempt((upstream) => listingPage(upstream, wanted)).finally(() => held.release());
    yield page;
    next = following(page, begun, markers);
  }
}

/** A part as the store has it now. */
export interface StoredPart {
  /** Unquoted. */
  readonly etag: string;
  /** Stored bytes. */
  readonly size: number;
}

/** One part of an open upload; undefined if there is no such part. @throws S3Error of the store */
export async function storedPart(
  upstream: Upstream,
  { bucket, key, uploadId }: ObjectName & { readonly uploadId: string },
  number: number,
  signal?: AbortSignal,
): Promise<StoredPart | undefined> {
  const { entries } = await listingPage(upstream, {
    bucket,
    key,
    query: [
      ['max-parts', '1'],
      ['part-number-marker', String(number - 1)],
      ['uploadId', uploadId],
    ],
    shape: { root: 'ListPartsResult', entries: ['Part'], fields: ['PartNumber', 'ETag', 'Size'] },
    limit: partLimit,
    ...(signal && { signal }),
  });
  const part = entries.find((entry) => entry.get('PartNumber') === String(number));
  return part && { etag: unquote(part.get('ETag') ?? ''), size: Number(part.get('Size')) };
}

interface WantedPage {
  readonly bucket: string;
  /** Of the object whose parts are listed. */
  readonly key?: string;
  readonly query: Query;
  readonly shape: DocumentShape;
  /** Bytes. */
  readonly limit: number;
  readonly signal?: AbortSignal;
  /** Memory for the page while it is read; absent: for commands, which read one page at a time. */
  readonly held?: HeldMemory;
}

/** @throws S3Error of the store; InternalError for a page that is too long or malformed */
export async function listingPage(
  upstream: Upstream,
  { bucket, key = '', query, shape, limit, signal, held }: WantedPage,
): Promise<ScannedDocument> {
  if (held !== undefined) await beginAnswer(held);
  const response = await upstream.send({ method: 'GET', bucket, key, query, ...(signal && { signal }) });
  return xmlResult(response, { mostEntries: maxEntries, ...shape }, limit, held);
}

/**
 * Query for the next page; undefined after the last.
 * @param begun digests of the queries of all pages so far
 * @throws S3Error for an endless listing, such as one that returns to an earlier page, and for a marker that is too long
 */
function following(
  page: ScannedDocument,
  begun: ReadonlySet<string>,
  markers: Readonly<Record<string, string>>,
): Query | undefined {
  if (page.top.get('IsTruncated')?.trim() !== 'true') return undefined;
  const next = Object.entries(markers).flatMap(([name, element]) => {
    const value = page.top.get(element);
    return value ? [[name, value] as const] : [];
  });
  if (next.length === 0) return undefined;
  if (next.some(([, value]) => value.length > maxMarker))
    throw s3Error('InternalError', 'A listing of the object store goes on after a name that is too long.');
  if (begun.size >= maxPages || begun.has(digestOf(next)))
    throw s3Error('InternalError', 'A listing of the object store has no end.');
  return next;
}

/** Of a fixed size, since the store may make its markers as long as it likes. */
const digestOf = (query: Query): string => hash('sha256', JSON.stringify(query), 'base64');

function stateObject(entry: Fields): StateObject {
  const modified = new Date(entry.get('LastModified') ?? '');
  return {
    key: entry.get('Key') ?? '',
    lastModified: Number.isNaN(modified.getTime()) ? undefined : modified,
  };
}

export interface Deletable {
  readonly key: string;
  readonly versionId?: string | undefined;
}

/** Every version and delete marker below a prefix, in pages of at most 1,000. */
export type VersionPages = (prefix: string) => AsyncIterable<readonly Deletable[]>;

/** Limit of one DeleteObjects request. */
export const deleteBatchSize = 1_000;

/**
 * Everything to delete so that nothing of `keys` remains, in batches for one DeleteObjects request. With `versions`,
 * every version and delete marker is included.
 */
export async function* deletableObjects(
  keys: readonly string[],
  versions: VersionPages | undefined,
  reservedPrefix: string,
): AsyncGenerator<Deletable[]> {
  if (versions === undefined) {
    for (let start = 0; start < keys.length; start += deleteBatchSize)
      yield keys.slice(start, start + deleteBatchSize).map((key) => ({ key }));
    return;
  }
  for (const [prefix, wanted] of byFolder(keys, reservedPrefix)) {
    for await (const page of versions(prefix)) {
      const batch = page.filter(({ key }) => wanted.has(key));
      if (batch.length > 0) yield batch;
    }
  }
}

/** Groups keys by the folder of their upload or object, so that each folder is listed once. */
function byFolder(keys: readonly string[], reservedPrefix: string): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const key of keys) {
    const folder = folderOf(key, reservedPrefix);
    const known = folders.get(folder);
    if (known) known.add(key);
    else folders.set(folder, new Set([key]));
  }
  return folders;
}

/** `<reserved>uploads/<hash>/` or `<reserved>manifests/<hash>/`; for other keys the key itself. */
function folderOf(key: string, reservedPrefix: string): string {
  if (!key.startsWith(reservedPrefix)) return key;
  const [kind, hash, ...rest] = key.slice(reservedPrefix.length).split('/');
  return rest.length === 0 ? key : `${reservedPrefix}${kind}/${hash}/`;
}
