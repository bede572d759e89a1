import { ObjectChanged } from '../../../objects/read/stored-object.ts';
import { S3Error, s3Error } from '../../../objects/s3/error.ts';
import { decodeForm } from '../../../objects/s3/form-text.ts';
import { unquote } from '../../../objects/s3/headers.ts';
import type { DocumentShape, Fields, ScannedDocument } from '../../../objects/s3/xml-document.ts';
import { listingPage } from '../../../objects/state/listings.ts';
import type { Upstream } from '../../../objects/upstream/upstream.ts';
import { retry } from '../../../runtime/lifecycle/wait.ts';

/** An object as the store lists it, or one of its versions if versions are listed. */
export interface StoredEntry {
  readonly key: string;
  /** Undefined if objects are listed, not versions. */
  readonly versionId: string | undefined;
  /** Whether a request without version gets this one. */
  readonly latest: boolean;
  /** The store's ETag, unquoted. */
  readonly etag: string;
  /** Stored bytes. */
  readonly stored: number;
  readonly modified: string;
}

/** Name of an entry for people. */
export const nameOf = ({
  key,
  latest,
  versionId,
}: Pick<StoredEntry, 'key' | 'latest' | 'versionId'>): string =>
  latest || versionId === undefined ? key : `${key}?versionId=${versionId}`;

/** What is listed. */
export interface Listed {
  readonly bucket: string;
  readonly prefix: string;
  /** All versions without delete markers, or the current objects. */
  readonly versioned: boolean;
  /** Keys below it are left out. */
  readonly reservedPrefix: string;
}

/**
 * Pages of the store's objects in byte order of their keys, which are requested encoded because XML cannot represent
 * all keys.
 * @throws S3Error of the store; InternalError for a page that is too long or malformed or has other objects than those
 *   asked for, or a listing that does not advance
 */
export async function* listObjects(
  upstream: Upstream,
  { bucket, prefix, versioned, reservedPrefix }: Listed,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredEntry[]> {
  const { query: ofListing, shape, nextOf } = versioned ? versions : objects;
  let next: Query | undefined = [];
  let last = Buffer.alloc(0);
  while (next !== undefined) {
    const query: Query = [...ofListing, ['encoding-type', 'url'], ['prefix', prefix], ...next];
    const wanted = { bucket, query, shape, limit: pageLimit, signal };
    const page: ScannedDocument = await again(() => listingPage(upstream, wanted), signal);
    const entries = entriesOf(page, versioned);
    if (!entries.every(({ key }) => key.startsWith(prefix))) throw strayed();
    const before = last;
    last = Buffer.from(entries.at(-1)?.key ?? last);
    // versions of one key may fill pages
    const order = Buffer.compare(before, last);
    if (order > 0 || (order === 0 && entries.length > 0 && !versioned)) throw stands();
    yield entries.filter(({ key }) => !key.startsWith(reservedPrefix));
    const following = nextOf(page);
    if (following !== undefined && JSON.stringify(following) === JSON.stringify(next)) throw stands();
    next = following;
  }
}

/**
 * Tries up to four times, if another attempt may help: the object was replaced, its part list has just moved, or the
 * store failed.
 * @param attempt gets its number, from 1
 */
export const again = <T>(attempt: (count: number) => Promise<T>, signal: AbortSignal): Promise<T> =>
  retry(attempt, { initialMs: 200, maxMs: 2_000, maxAttempts: 4, isRetryable: mayHelp, signal });

const mayHelp = (error: unknown): boolean =>
  error instanceof ObjectChanged ||
  (error instanceof S3Error && error.status >= 500) ||
  (error as { reason?: unknown }).reason === 'manifest-missing';

type Query = readonly (readonly [name: string, value: string])[];

interface Listing {
  readonly query: Query;
  readonly shape: DocumentShape;
  /** @throws S3Error if the page says that more follow, but not where */
  nextOf(page: ScannedDocument): Query | undefined;
}

/** Fits 1,000 keys of 1,024 bytes, with every byte encoded as three. */
export const pageLimit = 8 * 1024 * 1024;
const fieldsOfAll = ['Key', 'ETag', 'Size', 'LastModified', 'EncodingType', 'IsTruncated'];

const objects: Listing = {
  query: [['list-type', '2']],
  shape: {
    root: 'ListBucketResult',
    entries: ['Contents'],
    fields: [...fieldsOfAll, 'NextContinuationToken'],
  },
  nextOf(page) {
    if (!isTruncated(page)) return undefined;
    const token = page.top.get('NextContinuationToken');
    if (token === undefined) throw stands();
    return token === '' ? undefined : [['continuation-token', token]];
  },
};

const versions: Listing = {
  query: [['versions', '']],
  shape: {
    root: 'ListVersionsResult',
    entries: ['Version'],
    fields: [...fieldsOfAll, 'VersionId', 'IsLatest', 'NextKeyMarker', 'NextVersionIdMarker'],
  },
  nextOf(page) {
    if (!isTruncated(page)) return undefined;
    const key = page.top.get('NextKeyMarker');
    if (key === undefined || key === '') throw stands();
    const version = page.top.get('NextVersionIdMarker')?.trim();
    const marker = ['key-marker', keyDecoder(page)(key)] as const;
    return version ? [marker, ['version-id-marker', version]] : [marker];
  },
};

const isTruncated = ({ top }: ScannedDocument): boolean => top.get('IsTruncated')?.trim() === 'true';

/** Keys ascend in byte order; a listing that goes back would never end. */
const stands = () => s3Error('InternalError', 'A listing of the object store does not advance.');

/** Objects outside of the requested prefix must be neither read nor replaced. */
const strayed = () =>
  s3Error('InternalError', 'A listing of the object store names objects that it was not asked for.');

function entriesOf(page: ScannedDocument, versioned: boolean): readonly StoredEntry[] {
  const decoded = keyDecoder(page);
  const entry = (fields: Fields): StoredEntry => {
    const text = (name: string) => (fields.get(name) ?? '').trim();
    return {
      key: decoded(fields.get('Key') ?? ''),
      versionId: versioned ? text('VersionId') || 'null' : undefined,
      latest: !versioned || text('IsLatest') === 'true',
      ...{ etag: unquote(text('ETag')), stored: Number(text('Size')), modified: text('LastModified') },
    };
  };
  return page.entries.map(entry).filter(({ key }) => key !== '');
}

/** Decoder for the keys of a page, according to its `EncodingType`. Text that is not validly encoded is kept as it is. */
export const keyDecoder = ({ top }: Pick<ScannedDocument, 'top'>): ((key: string) => string) =>
  top.get('EncodingType')?.trim() === 'url' ? (key) => decodeForm(key) ?? key : (key) => key;
