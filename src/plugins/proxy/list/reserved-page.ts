import type { Listing } from '../../../core/s3/list-entry.ts';
import { encodeComponent } from '../../../core/s3/uri.ts';
import { element } from '../../../core/s3/xml-write.ts';

export type QueryEntries = readonly (readonly [name: string, value: string])[];

/** How a listing says where to go on: the parameter, those it stands in for, and the element that echoes it. */
interface Resumption {
  readonly parameter: string;
  readonly replaced: readonly string[];
  readonly echo: string;
}

export type ListingOperation =
  | 'ListObjects'
  | 'ListObjectsV2'
  | 'ListObjectVersions'
  | 'ListMultipartUploads';

const resumptions: Readonly<Record<ListingOperation, Resumption>> = {
  ListObjects: { parameter: 'marker', replaced: [], echo: 'Marker' },
  ListObjectsV2: { parameter: 'start-after', replaced: ['continuation-token'], echo: 'StartAfter' },
  ListObjectVersions: { parameter: 'key-marker', replaced: ['version-id-marker'], echo: 'KeyMarker' },
  ListMultipartUploads: { parameter: 'key-marker', replaced: ['upload-id-marker'], echo: 'KeyMarker' },
};

/** True for a page that would be empty without the reserved entries although more follows. */
export function isWhollyReserved({ entries, isTruncated, xml }: Listing, reservedPrefix: string): boolean {
  if (entries.length === 0 || isTruncated === undefined) return false;
  if (xml.slice(isTruncated.start, isTruncated.end).trim() !== 'true') return false;
  return entries.every(({ key }) => key.startsWith(reservedPrefix));
}

/** The query that goes on behind the reserved keys: all of them are ASCII and sort before `~`. */
export function queryBehind(
  operation: ListingOperation,
  query: QueryEntries,
  reservedPrefix: string,
): QueryEntries {
  const { parameter, replaced } = resumptions[operation];
  const kept = query.filter(([name]) => name !== parameter && !replaced.includes(name));
  return [...kept, [parameter, `${reservedPrefix}~`]];
}

/** What the store echoes of that query, as if the caller's own had been asked. */
export function withOwnEcho(operation: ListingOperation, query: QueryEntries, xml: string): string {
  const { parameter, echo } = resumptions[operation];
  const own = query.find(([name]) => name === parameter)?.[1];
  const encoded = query.some(([name, value]) => name === 'encoding-type' && value === 'url');
  const text = own === undefined ? '' : element(echo, encoded ? encodeComponent(own) : own);
  return xml.replace(new RegExp(`<${echo}>[^<]*</${echo}>`), () => text);
}
