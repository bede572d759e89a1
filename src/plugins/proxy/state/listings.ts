import { type EntryShape, type ScannedEntries, scanEntries } from '../../../core/s3/entry-scan.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { xmlText } from '../upstream/xml-result.ts';
import type { Deletable } from './delete-for-good.ts';
import type { StateObject } from './state-store.ts';

/** A page has 1,000 entries of a kilobyte at the most. */
const pageLimit = 4 * 1024 * 1024;
/** An upload has 10,000 parts, each of which may have been sent many times. */
const mostPages = 1_000;

const objectList: EntryShape = {
  root: 'ListBucketResult',
  entries: ['Contents'],
  fields: ['Key', 'LastModified', 'IsTruncated', 'NextContinuationToken'],
};
const versionList: EntryShape = {
  root: 'ListVersionsResult',
  entries: ['Version', 'DeleteMarker'],
  fields: ['Key', 'VersionId', 'IsTruncated', 'NextKeyMarker', 'NextVersionIdMarker'],
};

type Entry = ScannedEntries['entries'][number];
type Query = readonly (readonly [name: string, value: string])[];

/** ListObjectsV2, page by page. @throws S3Error as the store has it */
export async function* objectPages(
  upstream: Upstream,
  bucket: string,
  prefix: string,
): AsyncGenerator<readonly StateObject[]> {
  let next: Query | undefined = [];
  for (let count = 1; next; count++) {
    const query: Query = [['list-type', '2'], ['prefix', prefix], ...next];
    const page = await listing(upstream, bucket, query, objectList);
    yield page.entries.map(stateObject);
    next = following(page, count, { 'continuation-token': 'NextContinuationToken' });
  }
}

/** ListObjectVersions, page by page. @throws S3Error as the store has it */
export async function* versionPages(
  upstream: Upstream,
  bucket: string,
  prefix: string,
): AsyncGenerator<readonly Deletable[]> {
  let next: Query | undefined = [];
  for (let count = 1; next; count++) {
    const query: Query = [['versions', ''], ['prefix', prefix], ...next];
    const page = await listing(upstream, bucket, query, versionList);
    yield page.entries.map((entry) => ({ key: keyOf(entry), versionId: entry.get('VersionId') }));
    next = following(page, count, {
      'key-marker': 'NextKeyMarker',
      'version-id-marker': 'NextVersionIdMarker',
    });
  }
}

async function listing(
  upstream: Upstream,
  bucket: string,
  query: Query,
  shape: EntryShape,
): Promise<ScannedEntries> {
  const response = await upstream.send({ method: 'GET', bucket, key: '', query });
  const page = scanEntries(await xmlText(response, pageLimit), shape);
  if (page === undefined)
    throw s3Error('InternalError', `The object store did not answer with a ${shape.root}.`);
  return page;
}

/** Where the next page begins; undefined after the last one. @throws S3Error for a listing without end */
function following(
  page: ScannedEntries,
  count: number,
  markers: Readonly<Record<string, string>>,
): Query | undefined {
  if (page.top.get('IsTruncated')?.trim() !== 'true') return undefined;
  if (count >= mostPages) throw s3Error('InternalError', 'A listing of the object store has no end.');
  const next = Object.entries(markers).flatMap(([name, element]) => {
    const value = page.top.get(element);
    return value ? [[name, value] as const] : [];
  });
  return next.length === 0 ? undefined : next;
}

/** A copy, because a substring would keep the whole page in memory for as long as the key is kept. */
const keyOf = (entry: Entry): string => Buffer.from(entry.get('Key') ?? '').toString();

function stateObject(entry: Entry): StateObject {
  const modified = new Date(entry.get('LastModified') ?? '');
  return {
    key: keyOf(entry),
    lastModified: Number.isNaN(modified.getTime()) ? undefined : modified,
  };
}
