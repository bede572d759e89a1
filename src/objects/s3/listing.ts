import type { BlockBody } from '../../runtime/bounds/block-body.ts';
import { s3Error } from './error.ts';
import { decodeForm } from './form-text.ts';
import { insertion, removal, replaceSpans, type Span, type SpanEdit } from './replace-spans.ts';
import { type ElementVisitor, scanXml } from './xml-scan.ts';
import { decodeText, escapeXml } from './xml-text.ts';

/** MinIO writes it with a small initial. */
const attributes = ['GetObjectAttributes*', 'getObjectAttributes*'];
const lists = ['ListBucketResult', 'ListVersionsResult', 'ListPartsResult', 'ListMultipartUploadsResult'];
/** S3 lists 1,000 entries at a time, MinIO 10,000 parts. */
const maxEntries = 10_000;
const maxChecksums = 5 * maxEntries;
const maxElements = 32 * maxEntries;
const checksum = 'Checksum*';
const entryElements = new Set(['Contents', 'Version', 'DeleteMarker', 'CommonPrefixes', 'Upload', 'Part']);
/** The field that every entry must have, unless it is `Key`. */
const required: Readonly<Record<string, string>> = { CommonPrefixes: 'Prefix', Part: 'PartNumber' };
const entryFields = [
  ...['Key', 'Prefix', 'ETag', 'Size', 'VersionId', 'LastModified', 'UploadId', 'PartNumber'],
] as const;
const topFields = [
  ...['EncodingType', 'KeyCount', 'IsTruncated', 'NextMarker', 'ETag', 'ObjectSize', 'VersionId'],
] as const;
const names = [...attributes, ...lists, checksum, ...entryElements, ...entryFields, ...topFields];
type EntryField = (typeof entryFields)[number];
type TopField = (typeof topFields)[number];

/**
 * Parses a listing of the store: ListObjects (both versions), ListObjectVersions, ListParts, ListMultipartUploads. Takes
 * at most eight bytes for each byte of it.
 * @throws S3Error InternalError for any other document, or one that cannot be read safely
 */
export const scanListing = (xml: Buffer): Listing => scan(xml, lists);

/** Parses GetObjectAttributes, which includes a listing of parts. @throws S3Error InternalError as `scanListing` */
export const scanAttributes = (xml: Buffer): Listing => scan(xml, attributes);

function scan(xml: Buffer, roots: readonly string[]): Listing {
  if (!isUtf8(xml)) throw unreadable();
  const scanner = new ListingScanner(xml, roots);
  try {
    scanXml(xml, scanner, { names, most: maxElements, plain: true });
  } catch (cause) {
    throw unreadable(cause);
  }
  return scanner.listing();
}

/** In another encoding the same bytes may be other characters, and clients may trust the document's own declaration. */
function isUtf8(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 256);
  const [, encoding = 'utf-8'] =
    /^(?:\xEF\xBB\xBF)?<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)/.exec(start) ?? [];
  return /^(?:utf-?8|us-ascii)$/i.test(encoding);
}

/** All fields are set at once, so that an entry takes no more than their places. */
class LocatedEntry implements ListingEntry {
  readonly element: EntryElement;
  readonly start: number;
  end: number;
  key = '';
  etag: string | undefined = undefined;
  size: number | undefined = undefined;
  versionId: string | undefined = undefined;
  lastModified: string | undefined = undefined;
  uploadId: string | undefined = undefined;
  partNumber: number | undefined = undefined;
  /** Contents, which end at the next tag; 0 for what is not there. */
  keyStart = 0;
  etagStart = 0;
  sizeStart = 0;

  constructor(element: EntryElement, start: number, end: number) {
    this.element = element;
    this.start = start;
    this.end = end;
  }
}

class ListingScanner implements ElementVisitor {
  readonly #xml: Buffer;
  readonly #roots: readonly string[];
  #root = '';
  readonly #entries: LocatedEntry[] = [];
  readonly #checksums: Span[] = [];
  readonly #top = new Map<TopField, Span>();
  #entry: LocatedEntry | undefined;
  /** Depth of the open entry. */
  #depth = 0;
  /** Depth of a checksum element that is being skipped, or 0. */
  #skipping = 0;
  #start = 0;
  /** Start of the content of the open element, by depth. */
  readonly #contents: number[] = [];

  constructor(xml: Buffer, roots: readonly string[]) {
    this.#xml = xml;
    this.#roots = roots;
  }

  open(name: string | undefined, depth: number, start: number, content: number): void {
    if (depth === 1) this.#begin(name);
    if (this.#skipping > 0) return;
    this.#contents[depth] = content;
    if (name === checksum) {
      this.#skipping = depth;
      this.#start = start;
    } else if (!this.#entry && depth > 1 && name !== undefined && entryElements.has(name))
      this.#beginEntry(name as EntryElement, depth, start);
  }

  #begin(root: string | undefined): void {
    if (root === undefined || !this.#roots.includes(root)) throw unreadable();
    this.#root = root;
  }

  #beginEntry(element: EntryElement, depth: number, start: number): void {
    if (this.#entries.length >= maxEntries) throw unreadable();
    this.#entry = new LocatedEntry(element, start, start);
    this.#depth = depth;
    this.#entries.push(this.#entry);
  }

  close(name: string | undefined, depth: number, content: number, end: number): void {
    const entry = this.#entry;
    if (this.#skipping > 0) {
      if (depth === this.#skipping) this.#endChecksum(end);
    } else if (entry && depth === this.#depth) {
      this.#endEntry(entry, end);
    } else if (name !== undefined && depth === (entry ? this.#depth + 1 : 2)) {
      const start = this.#contents[depth] ?? content;
      if (entry) this.#setField(entry, name as EntryField, start, content);
      else this.#setTop(name as TopField, { start, end: content });
    }
  }

  /** Rejects entries without a name, of which a listing could hold a million. */
  #endEntry(entry: LocatedEntry, end: number): void {
    if (entry.element === 'Part' ? entry.partNumber === undefined : entry.keyStart === 0) throw unreadable();
    entry.end = end;
    this.#entry = undefined;
  }

  #endChecksum(end: number): void {
    if (this.#checksums.length >= maxChecksums) throw unreadable();
    this.#checksums.push({ start: this.#start, end });
    this.#skipping = 0;
  }

  #setTop(name: TopField, span: Span): void {
    if (!topFields.includes(name)) return;
    if (this.#top.has(name)) throw unreadable();
    this.#top.set(name, span);
  }

  #setField(entry: LocatedEntry, name: EntryField, start: number, end: number): void {
    if (name === (required[entry.element] ?? 'Key') && name !== 'PartNumber') {
      if (entry.keyStart > 0) throw unreadable();
      entry.keyStart = start;
      entry.key = this.#text(start, end);
    } else if (name === 'ETag') {
      entry.etag = once(entry.etag, this.#text(start, end));
      entry.etagStart = start;
    } else if (name === 'Size') {
      entry.size = once(entry.size, this.#number(start, end));
      entry.sizeStart = start;
    } else if (name === 'PartNumber') entry.partNumber = once(entry.partNumber, this.#number(start, end));
    else if (name === 'VersionId') entry.versionId = once(entry.versionId, this.#text(start, end));
    else if (name === 'LastModified') entry.lastModified = once(entry.lastModified, this.#text(start, end));
    else if (name === 'UploadId') entry.uploadId = once(entry.uploadId, this.#text(start, end));
  }

  listing(): Listing {
    const encoding = this.#top.get('EncodingType');
    const encoded = encoding !== undefined && this.#text(encoding.start, encoding.end) === 'url';
    if (encoded) for (const entry of this.#entries) entry.key = decodeUrl(entry.key);
    return {
      xml: this.#xml,
      root: this.#root,
      entries: attributes.includes(this.#root) ? [this.#object(), ...this.#entries] : this.#entries,
      checksums: this.#checksums,
      ...spanOf('keyCount', this.#top.get('KeyCount')),
      ...spanOf('isTruncated', this.#top.get('IsTruncated')),
      ...spanOf('nextMarker', this.#top.get('NextMarker')),
    };
  }

  /** GetObjectAttributes describes one object, whose fields are at the top level. */
  #object(): LocatedEntry {
    const object = new LocatedEntry('Object', 0, this.#xml.length);
    const fields = { ETag: 'ETag', ObjectSize: 'Size', VersionId: 'VersionId' } as const;
    for (const [field, name] of Object.entries(fields)) {
      const span = this.#top.get(field as TopField);
      if (span) this.#setField(object, name, span.start, span.end);
    }
    return object;
  }

  #number(start: number, end: number): number {
    const text = this.#text(start, end).trim();
    if (!/^\d{1,15}$/.test(text)) throw unreadable();
    return Number(text);
  }

  #text(start: number, end: number): string {
    const text = decodeText(this.#xml, start, end);
    if (text === undefined) throw unreadable();
    return text;
  }
}

/** @throws S3Error for a field that is there already */
function once<Value>(before: Value | undefined, value: Value): Value {
  if (before !== undefined) throw unreadable();
  return value;
}

function spanOf<Name extends string>(name: Name, span: Span | undefined): { [name in Name]?: Span } {
  return span === undefined ? {} : ({ [name]: span } as { [name in Name]: Span });
}

function decodeUrl(text: string): string {
  const decoded = decodeForm(text);
  if (decoded === undefined) throw unreadable();
  return decoded;
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
  readonly etag?: string | undefined;
  /** Stored bytes. */
  readonly size?: number | undefined;
  readonly versionId?: string | undefined;
  /** In the store's format. */
  readonly lastModified?: string | undefined;
  readonly uploadId?: string | undefined;
  readonly partNumber?: number | undefined;
}

/** A parsed listing that can be rewritten. */
export interface Listing {
  readonly xml: Buffer;
  readonly entries: readonly LocatedEntry[];
  /** `Checksum…` elements, which describe the ciphertext. */
  readonly checksums: readonly Span[];
  readonly keyCount?: Span;
  readonly isTruncated?: Span;
  readonly nextMarker?: Span;
  /** The name of the root element, or how it begins. */
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

/**
 * The listing with entries changed by `edit`, a corrected key count, and without checksums of the ciphertext.
 * @param added elements to add at the top level
 */
export function rewriteListing(
  listing: Listing,
  edit: (entry: ListingEntry) => EntryEdit | undefined,
  added = '',
): BlockBody {
  const replacements: SpanEdit[] = listing.checksums.map(removal);
  if (added !== '') replacements.push(beforeEndTag(listing.xml, listing.xml.length, added));
  const dropped = new Set<LocatedEntry>();
  for (const entry of listing.entries) {
    const change = edit(entry);
    if (change?.drop) dropped.add(entry);
    else if (change) replacements.push(...changed(listing.xml, entry, change));
  }
  for (const entry of dropped) replacements.push(removal(entry));
  if (dropped.size > 0) replacements.push(...corrected(listing, dropped));
  return replaceSpans(listing.xml, replacements);
}

function changed(xml: Buffer, entry: LocatedEntry, { size, etag, added }: ShownEntry): SpanEdit[] {
  const replacements: SpanEdit[] = [];
  if (etag !== undefined && entry.etag !== undefined)
    replacements.push({ ...textAt(xml, entry.etagStart), text: escapeXml(etag) });
  if (size !== undefined && entry.size !== undefined)
    replacements.push({ ...textAt(xml, entry.sizeStart), text: String(size) });
  if (added !== undefined) replacements.push(beforeEndTag(xml, entry.end, added));
  return replacements;
}

function textAt(xml: Buffer, start: number): Span {
  return { start, end: xml.indexOf('<', start) };
}

function beforeEndTag(xml: Buffer, end: number, text: string): SpanEdit {
  return insertion(xml.lastIndexOf('<', end - 1), text);
}

function corrected(listing: Listing, dropped: ReadonlySet<LocatedEntry>): SpanEdit[] {
  const replacements: SpanEdit[] = [];
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
function missingMarker(listing: Listing, dropped: ReadonlySet<LocatedEntry>): SpanEdit | undefined {
  const { isTruncated, keyCount, nextMarker, root, xml } = listing;
  const last = listing.entries.at(-1);
  if (root !== 'ListBucketResult' || keyCount || nextMarker || !isTruncated || !last || !dropped.has(last))
    return undefined;
  if (xml.toString('utf8', isTruncated.start, isTruncated.end).trim() !== 'true') return undefined;
  const rawKey = xml.toString('utf8', last.keyStart, xml.indexOf('<', last.keyStart));
  const at = xml.indexOf('>', isTruncated.end) + 1;
  return insertion(at, `<NextMarker>${rawKey}</NextMarker>`);
}
