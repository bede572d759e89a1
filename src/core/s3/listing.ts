import { type BlockBody, inBlocks } from '../block-body.ts';
import { s3Error } from './error.ts';
import { escapeXml, scanXml, Utf8Text } from './xml-text.ts';

/** MinIO writes it with a small initial. */
const attributes = /^[Gg]etObjectAttributes\w+$/;
const lists = /^(?:ListBucketResult|ListVersionsResult|ListPartsResult|ListMultipartUploadsResult)$/;
/** S3 lists 1,000 entries at a time, MinIO 10,000 parts. A parsed entry takes up to 1 KB. */
const maxEntries = 10_000;
const maxChecksums = 5 * maxEntries;
/** The element that every entry must have, unless it is `Key`. */
const required: Readonly<Record<string, string>> = { CommonPrefixes: 'Prefix', Part: 'PartNumber' };
const entryElements = new Set(['Contents', 'Version', 'DeleteMarker', 'CommonPrefixes', 'Upload', 'Part']);
const named = new Set<string>(['Contents', 'Version', 'DeleteMarker', 'CommonPrefixes', 'Upload']);
const fields = new Set([
  'Key',
  'Prefix',
  'ETag',
  'Size',
  'ObjectSize',
  'VersionId',
  'LastModified',
  'UploadId',
  'PartNumber',
]);
const topFields = new Set([
  'EncodingType',
  'KeyCount',
  'IsTruncated',
  'NextMarker',
  'ETag',
  'ObjectSize',
  'VersionId',
]);

/**
 * Parses a listing of the store: ListObjects (both versions), ListObjectVersions, ListParts, ListMultipartUploads.
 * @throws S3Error InternalError for any other document, or one that cannot be read safely
 */
export const scanListing = (xml: Buffer): Listing => scan(xml, lists);

/** Parses GetObjectAttributes, which includes a listing of parts. @throws S3Error InternalError as `scanListing` */
export const scanAttributes = (xml: Buffer): Listing => scan(xml, attributes);

function scan(bytes: Buffer, roots: RegExp): Listing {
  const xml = new Utf8Text(bytes);
  const scanner = new ListingScanner(xml);
  if (!isUtf8(bytes) || !scanXml(xml, scanner) || !roots.test(scanner.root)) throw unreadable();
  return scanner.listing();
}

/** In another encoding the same bytes may be other characters, and clients may trust the document's own declaration. */
function isUtf8(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 256);
  const [, encoding = 'utf-8'] =
    /^(?:\xEF\xBB\xBF)?<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)/.exec(start) ?? [];
  return /^(?:utf-?8|us-ascii)$/i.test(encoding);
}

interface Open {
  readonly element: EntryElement;
  readonly depth: number;
  readonly start: number;
  readonly found: Map<string, Span>;
  end: number;
}

class ListingScanner {
  root = '';
  readonly #xml: Utf8Text;
  readonly #entries: Open[] = [];
  readonly #checksums: Span[] = [];
  readonly #top = new Map<string, Span>();
  #entry: Open | undefined;
  /** Depth of a checksum element that is being skipped, or 0. */
  #skipping = 0;
  #start = 0;
  /** Start of the content of the open element, by depth. */
  readonly #contents: number[] = [];

  constructor(xml: Utf8Text) {
    this.#xml = xml;
  }

  open(name: string, depth: number, start: number, content: number): void {
    if (depth === 1) this.root = name;
    // some clients would ignore a namespace prefix
    if (name.includes(':')) throw unreadable();
    if (this.#skipping > 0) return;
    if (name.startsWith('Checksum')) this.#skipping = depth;
    else if (!this.#entry && depth > 1 && entryElements.has(name))
      this.#begin(name as EntryElement, depth, start);
    else this.#contents[depth] = content;
    if (this.#skipping === depth) this.#start = start;
  }

  close(name: string, depth: number, content: number, end: number): void {
    if (this.#skipping > 0) {
      if (depth === this.#skipping) this.#endChecksum(end);
    } else if (this.#entry && depth === this.#entry.depth) {
      this.#endEntry(this.#entry, end);
    } else if (
      this.#entry ? depth === this.#entry.depth + 1 && fields.has(name) : depth === 2 && topFields.has(name)
    ) {
      this.#record(name, { start: this.#contents[depth] ?? content, end: content });
    }
  }

  #begin(element: EntryElement, depth: number, start: number): void {
    if (this.#entries.length >= maxEntries) throw unreadable();
    this.#entry = { element, depth, start, found: new Map(), end: start };
    this.#entries.push(this.#entry);
  }

  /** Rejects entries without a name, of which a listing could hold a million. */
  #endEntry(entry: Open, end: number): void {
    if (!entry.found.has(required[entry.element] ?? 'Key')) throw unreadable();
    entry.end = end;
    this.#entry = undefined;
  }

  #endChecksum(end: number): void {
    if (this.#checksums.length >= maxChecksums) throw unreadable();
    this.#checksums.push({ start: this.#start, end });
    this.#skipping = 0;
  }

  #record(name: string, span: Span): void {
    const target = this.#entry?.found ?? this.#top;
    if (target.has(name)) throw unreadable();
    target.set(name, span);
  }

  listing(): Listing {
    const encoded = this.#text(this.#top.get('EncodingType')) === 'url';
    const entries = this.#entries.map((entry) => this.#locate(entry, encoded));
    if (attributes.test(this.root)) entries.unshift(this.#object());
    return {
      xml: this.#xml,
      root: this.root,
      entries,
      checksums: this.#checksums,
      ...spanOf('keyCount', this.#top.get('KeyCount')),
      ...spanOf('isTruncated', this.#top.get('IsTruncated')),
      ...spanOf('nextMarker', this.#top.get('NextMarker')),
    };
  }

  /** GetObjectAttributes describes one object, whose fields are at the top level. */
  #object(): LocatedEntry {
    const end = this.#xml.length;
    return this.#locate({ element: 'Object', depth: 1, start: 0, end, found: this.#top }, false);
  }

  #locate({ element, start, end, found }: Open, encoded: boolean): LocatedEntry {
    const sizeSpan = found.get('Size') ?? found.get('ObjectSize');
    return {
      element,
      key: this.#key(element, found, encoded),
      span: { start, end },
      ...this.#optional('etag', found.get('ETag')),
      ...spanOf('etagSpan', found.get('ETag')),
      ...(sizeSpan ? { sizeSpan, size: this.#number(sizeSpan) } : {}),
      ...this.#optional('versionId', found.get('VersionId')),
      ...this.#optional('lastModified', found.get('LastModified')),
      ...this.#optional('uploadId', found.get('UploadId')),
      ...(found.has('PartNumber') ? { partNumber: this.#number(found.get('PartNumber')) } : {}),
    };
  }

  #key(element: EntryElement, found: Map<string, Span>, encoded: boolean): string {
    if (!named.has(element)) return '';
    const text = this.#text(found.get(element === 'CommonPrefixes' ? 'Prefix' : 'Key'));
    if (text === undefined) throw unreadable();
    return encoded ? decodeUrl(text) : text;
  }

  #number(span: Span | undefined): number {
    const text = this.#text(span)?.trim() ?? '';
    if (!/^\d{1,15}$/.test(text)) throw unreadable();
    return Number(text);
  }

  #optional<Name extends string>(name: Name, span: Span | undefined): { [name in Name]?: string } {
    const text = this.#text(span);
    return text === undefined ? {} : ({ [name]: text } as { [name in Name]: string });
  }

  #text(span: Span | undefined): string | undefined {
    if (span === undefined) return undefined;
    const text = this.#xml.text(span.start, span.end);
    if (text === undefined) throw unreadable();
    return text;
  }
}

function spanOf<Name extends string>(name: Name, span: Span | undefined): { [name in Name]?: Span } {
  return span === undefined ? {} : ({ [name]: span } as { [name in Name]: Span });
}

/** With `encoding-type=url`, a space is `+`. */
function decodeUrl(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', '%20'));
  } catch (cause) {
    throw unreadable(cause);
  }
}

function unreadable(cause?: unknown) {
  return s3Error('InternalError', "The object store's listing could not be read.", { cause });
}

/** `Object` represents the object itself in a response of GetObjectAttributes. */
type EntryElement = 'Contents' | 'Version' | 'DeleteMarker' | 'CommonPrefixes' | 'Upload' | 'Part' | 'Object';

/** One entry of a listing, as received from the store. */
export interface ListingEntry {
  readonly element: EntryElement;
  /** Decoded key, or prefix for CommonPrefixes; empty for parts and objects, which have no key there. */
  readonly key: string;
  /** Including quotes. */
  readonly etag?: string;
  /** Stored bytes. */
  readonly size?: number;
  readonly versionId?: string;
  /** In the store's format. */
  readonly lastModified?: string;
  readonly uploadId?: string;
  readonly partNumber?: number;
}

/** A replaceable stretch of the document, in byte offsets. */
interface Span {
  readonly start: number;
  readonly end: number;
}

interface LocatedEntry extends ListingEntry {
  readonly span: Span;
  readonly etagSpan?: Span;
  readonly sizeSpan?: Span;
}

/** A parsed listing that can be rewritten. */
export interface Listing {
  readonly xml: Utf8Text;
  readonly entries: readonly LocatedEntry[];
  /** `Checksum…` elements, which describe the ciphertext. */
  readonly checksums: readonly Span[];
  readonly keyCount?: Span;
  readonly isTruncated?: Span;
  readonly nextMarker?: Span;
  /** The name of the root element. */
  readonly root: string;
}

/** Change to an entry: dropped, or shown with another size (bytes), ETag and additional elements. */
export type EntryEdit = { readonly drop: true } | ({ readonly drop?: false } & ShownEntry);

interface ShownEntry {
  readonly size?: number;
  readonly etag?: string;
  /** Elements to add to the store's entry. */
  readonly added?: string;
}

interface Replacement extends Span {
  readonly text: string;
}

/**
 * The listing with entries changed by `edit`, a corrected key count, and without checksums of the ciphertext.
 * @param added elements to add at the top level
 */
export function rewriteListing(
  listing: Listing,
  edit: (entry: ListingEntry) => EntryEdit | undefined,
  added = '',
): BlockBody {
  const replacements: Replacement[] = listing.checksums.map(remove);
  if (added !== '') replacements.push(beforeEndTag(listing.xml.bytes, listing.xml.length, added));
  const dropped = new Set<LocatedEntry>();
  for (const entry of listing.entries) {
    const change = edit(entry);
    if (change?.drop) dropped.add(entry);
    else if (change) replacements.push(...changed(listing.xml.bytes, entry, change));
  }
  for (const { span } of dropped) replacements.push(remove(span));
  if (dropped.size > 0) replacements.push(...corrected(listing, dropped));
  return apply(listing.xml.bytes, replacements);
}

const remove = ({ start, end }: Span): Replacement => ({ start, end, text: '' });

function changed(xml: Buffer, entry: LocatedEntry, { size, etag, added }: ShownEntry): Replacement[] {
  const replacements: Replacement[] = [];
  if (etag !== undefined && entry.etagSpan) replacements.push({ ...entry.etagSpan, text: escapeXml(etag) });
  if (size !== undefined && entry.sizeSpan) replacements.push({ ...entry.sizeSpan, text: String(size) });
  if (added !== undefined) replacements.push(beforeEndTag(xml, entry.span.end, added));
  return replacements;
}

function beforeEndTag(xml: Buffer, end: number, text: string): Replacement {
  const at = xml.lastIndexOf('<', end - 1);
  return { start: at, end: at, text };
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

/** Clients of the first ListObjects resume after the last key they see, so a dropped last key needs a NextMarker. */
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

/** Applies replacements; one that begins within another is skipped. */
function apply(xml: Buffer, replacements: Replacement[]): BlockBody {
  replacements.sort((left, right) => left.start - right.start || left.end - right.end);
  let [at, length] = [0, xml.length];
  const applied = replacements.filter(({ start, end, text }) => {
    if (start < at) return false;
    at = end;
    length += Buffer.byteLength(text) - (end - start);
    return true;
  });
  return { length, blocks: inBlocks(pieces(xml, applied)) };
}

function* pieces(xml: Buffer, replacements: readonly Replacement[]): Generator<Buffer> {
  let at = 0;
  for (const { start, end, text } of replacements) {
    yield xml.subarray(at, start);
    if (text !== '') yield Buffer.from(text);
    at = end;
  }
  yield xml.subarray(at);
}
