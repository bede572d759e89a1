import { s3Error } from '../../../objects/s3/error.ts';
import { decodeForm } from '../../../objects/s3/form-text.ts';
import { unquote } from '../../../objects/s3/headers.ts';
import type { DocumentShape, ScannedDocument } from '../../../objects/s3/xml-document.ts';
import { listingPage } from '../../../objects/state/listings.ts';
import type { Upstream } from '../../../objects/upstream/upstream.ts';

/** An object as the store lists it. */
export interface StoredEntry {
  readonly key: string;
  /** The store's ETag, unquoted. */
  readonly etag: string;
  /** Stored bytes. */
  readonly stored: number;
  readonly modified: string;
}

/** Fits 1,000 keys of 1,024 bytes, with every byte encoded as three. */
export const pageLimit = 8 * 1024 * 1024;
const shape: DocumentShape = {
  root: 'ListBucketResult',
  entries: ['Contents'],
  fields: ['Key', 'ETag', 'Size', 'LastModified', 'EncodingType', 'IsTruncated', 'NextContinuationToken'],
};

/** Calls a request, and retries it if that may help. */
export type Retried = <T>(request: () => Promise<T>) => Promise<T>;

/**
 * Pages of ListObjectsV2, with encoded keys because XML cannot represent all keys.
 * @throws S3Error of the store; InternalError for a page that is too long or malformed, or a listing that does not
 *   advance
 */
export async function* listObjects(
  upstream: Upstream,
  attempt: Retried,
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
  signal: AbortSignal,
): AsyncGenerator<readonly StoredEntry[]> {
  let token: string | undefined;
  let last = Buffer.alloc(0);
  do {
    const query: [string, string][] = [
      ['list-type', '2'],
      ['encoding-type', 'url'],
      ['prefix', prefix],
    ];
    if (token !== undefined) query.push(['continuation-token', token]);
    const page = await attempt(() =>
      listingPage(upstream, { bucket, query, shape, limit: pageLimit, signal }),
    );
    const entries = entriesOf(page);
    const before = last;
    last = Buffer.from(entries.at(-1)?.key ?? last);
    if (entries.length > 0 && Buffer.compare(before, last) >= 0) throw stands();
    yield entries;
    const next = page.top.get('IsTruncated')?.trim() === 'true' ? page.top.get('NextContinuationToken') : '';
    if (next === undefined || (next !== '' && next === token)) throw stands();
    token = next === '' ? undefined : next;
  } while (token !== undefined);
}

/** Keys ascend in byte order; a listing that goes back would never end. */
export const stands = () => s3Error('InternalError', 'A listing of the object store does not advance.');

function entriesOf({ top, entries }: ScannedDocument): readonly StoredEntry[] {
  const decoded = keyDecoder({ top });
  return entries.flatMap((entry) => {
    const key = decoded(entry.get('Key') ?? '');
    const text = (field: string) => (entry.get(field) ?? '').trim();
    const stored = Number(text('Size'));
    return key === '' ? [] : [{ key, etag: unquote(text('ETag')), stored, modified: text('LastModified') }];
  });
}

/** Decoder for the keys of a page, according to its `EncodingType`. Text that is not validly encoded is kept as it is. */
export const keyDecoder = ({ top }: Pick<ScannedDocument, 'top'>): ((key: string) => string) =>
  top.get('EncodingType')?.trim() === 'url' ? (key) => decodeForm(key) ?? key : (key) => key;
