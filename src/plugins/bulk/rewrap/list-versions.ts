import type { DocumentShape, ScannedDocument } from '../../../objects/s3/xml-document.ts';
import { listingPage } from '../../../objects/state/listings.ts';
import type { Upstream } from '../../../objects/upstream/upstream.ts';
import { keyDecoder, listObjects, pageLimit, type Retried, stands } from '../decrypt/list-objects.ts';

/** A version of an object, or the object itself if the bucket keeps no versions. */
export interface ListedVersion {
  readonly key: string;
  /** Undefined if the bucket keeps no versions. */
  readonly versionId: string | undefined;
  /** Stored bytes. */
  readonly stored: number;
  /** Whether a request without version gets this one. */
  readonly latest: boolean;
}

/** Name of a version for people. */
export const nameOf = ({ key, latest, versionId }: ListedVersion): string =>
  latest || versionId === undefined ? key : `${key}?versionId=${versionId}`;

/** Pages of all versions, or of objects if the bucket keeps no versions. @throws as the two listings do */
export async function* listAll(
  upstream: Upstream,
  attempt: Retried,
  { versioned, ...place }: { readonly bucket: string; readonly prefix: string; readonly versioned: boolean },
  signal: AbortSignal,
): AsyncGenerator<readonly ListedVersion[]> {
  if (versioned) return yield* listVersions(upstream, attempt, place, signal);
  for await (const page of listObjects(upstream, attempt, place, signal))
    yield page.map(({ key, stored }) => ({ key, stored, versionId: undefined, latest: true }));
}

const shape: DocumentShape = {
  root: 'ListVersionsResult',
  entries: ['Version'],
  fields: [
    ...['Key', 'VersionId', 'Size', 'IsLatest'],
    ...['EncodingType', 'IsTruncated', 'NextKeyMarker', 'NextVersionIdMarker'],
  ],
};

/**
 * Pages of ListObjectVersions without delete markers, with encoded keys because XML cannot represent all keys.
 * @throws S3Error of the store; InternalError for a malformed page, or a listing that does not advance
 */
async function* listVersions(
  upstream: Upstream,
  attempt: Retried,
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
  signal: AbortSignal,
): AsyncGenerator<readonly ListedVersion[]> {
  let markers: [string, string][] | undefined = [];
  let last = Buffer.alloc(0);
  while (markers !== undefined) {
    const query: [string, string][] = [
      ['versions', ''],
      ['encoding-type', 'url'],
      ['prefix', prefix],
      ...markers,
    ];
    const wanted = { bucket, query, shape, limit: pageLimit, signal };
    const page: ScannedDocument = await attempt(() => listingPage(upstream, wanted));
    const versions = versionsOf(page);
    const before = last;
    last = Buffer.from(versions.at(-1)?.key ?? last);
    if (Buffer.compare(before, last) > 0) throw stands();
    yield versions;
    const next = nextMarkers(page);
    if (next !== undefined && JSON.stringify(next) === JSON.stringify(markers)) throw stands();
    markers = next;
  }
}

function versionsOf(page: ScannedDocument): readonly ListedVersion[] {
  const decoded = keyDecoder(page);
  return page.entries.flatMap((entry) => {
    const key = decoded(entry.get('Key') ?? '');
    const text = (field: string) => (entry.get(field) ?? '').trim();
    if (key === '') return [];
    const latest = text('IsLatest') === 'true';
    return [{ key, versionId: text('VersionId') || 'null', stored: Number(text('Size')), latest }];
  });
}

function nextMarkers(page: ScannedDocument): [string, string][] | undefined {
  if (page.top.get('IsTruncated')?.trim() !== 'true') return undefined;
  const key = page.top.get('NextKeyMarker');
  if (key === undefined || key === '') throw stands();
  const version = page.top.get('NextVersionIdMarker')?.trim();
  return [
    ['key-marker', keyDecoder(page)(key)],
    ...(version ? [['version-id-marker', version] as [string, string]] : []),
  ];
}
