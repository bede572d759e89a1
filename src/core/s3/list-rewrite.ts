import type { Listing, ListingEntry, LocatedEntry, Span } from './list-entry.ts';
import { escapeXml } from './xml-write.ts';

/** What becomes of an entry: left out, or shown with another size (bytes) and ETag. */
export type EntryEdit =
  | { readonly drop: true }
  | { readonly drop?: false; readonly size?: number; readonly etag?: string };

interface Replacement extends Span {
  readonly text: string;
}

/** The listing's text with entries as `edit` has them, the count of keys corrected, checksums of ciphertext left out. */
export function rewriteListing(
  listing: Listing,
  edit: (entry: ListingEntry) => EntryEdit | undefined,
): string {
  const replacements: Replacement[] = listing.checksums.map(remove);
  const dropped = new Set<LocatedEntry>();
  for (const entry of listing.entries) {
    const change = edit(entry);
    if (change?.drop) dropped.add(entry);
    else if (change) replacements.push(...changed(entry, change));
  }
  for (const { span } of dropped) replacements.push(remove(span));
  if (dropped.size > 0) replacements.push(...corrected(listing, dropped));
  return apply(listing.xml, replacements);
}

const remove = ({ start, end }: Span): Replacement => ({ start, end, text: '' });

function changed(entry: LocatedEntry, { size, etag }: { size?: number; etag?: string }): Replacement[] {
  const replacements: Replacement[] = [];
  if (etag !== undefined && entry.etagSpan) replacements.push({ ...entry.etagSpan, text: escapeXml(etag) });
  if (size !== undefined && entry.sizeSpan) replacements.push({ ...entry.sizeSpan, text: String(size) });
  return replacements;
}

function corrected(listing: Listing, dropped: ReadonlySet<LocatedEntry>): Replacement[] {
  const replacements: Replacement[] = [];
  if (listing.keyCount) {
    const count = listing.entries.filter(
      ({ element }) => element === 'Contents' || element === 'CommonPrefixes',
    ).length;
    replacements.push({ ...listing.keyCount, text: String(count - dropped.size) });
  }
  const marker = missingMarker(listing, dropped);
  if (marker) replacements.push(marker);
  return replacements;
}

/** Callers of the first ListObjects go on after the last key that they see: when it is left out, name it. */
function missingMarker(listing: Listing, dropped: ReadonlySet<LocatedEntry>): Replacement | undefined {
  const { isTruncated, keyCount, nextMarker, root, xml } = listing;
  const last = listing.entries.at(-1);
  if (root !== 'ListBucketResult' || keyCount || nextMarker || !isTruncated || !last || !dropped.has(last))
    return undefined;
  if (xml.slice(isTruncated.start, isTruncated.end).trim() !== 'true') return undefined;
  const rawKey = /<(?:Key|Prefix)>([^<]*)</.exec(xml.slice(last.span.start, last.span.end))?.[1] ?? '';
  const at = xml.indexOf('>', isTruncated.end) + 1;
  return { start: at, end: at, text: `<NextMarker>${rawKey}</NextMarker>` };
}

function apply(xml: string, replacements: Replacement[]): string {
  replacements.sort((left, right) => left.start - right.start || left.end - right.end);
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end, text } of replacements) {
    if (start < at) continue;
    pieces.push(xml.slice(at, start), text);
    at = end;
  }
  pieces.push(xml.slice(at));
  return pieces.join('');
}
