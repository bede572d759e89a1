import { s3Error } from './error-catalog.ts';
import type { EntryElement, Listing, LocatedEntry, Span } from './list-entry.ts';
import { scanXml } from './xml-scan.ts';
import { unescapeXml } from './xml-unescape.ts';

/** MinIO begins it with a small letter. */
const attributes = /^[Gg]etObjectAttributes\w+$/;
const lists = /^(?:ListBucketResult|ListVersionsResult|ListPartsResult|ListMultipartUploadsResult)$/;
const entryElements = new Set(['Contents', 'Version', 'DeleteMarker', 'CommonPrefixes', 'Upload', 'Part']);
const named = new Set<string>(['Contents', 'Version', 'DeleteMarker', 'CommonPrefixes', 'Upload']);
const fields = new Set([
  'Key',
  'Prefix',
  'ETag',
  'Size',
  'ObjectSize',
  'VersionId',
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
 * Reads a listing of the store: ListObjects (both versions), ListObjectVersions, ListParts, ListMultipartUploads,
 * and GetObjectAttributes. @throws S3Error InternalError when it is none of these or cannot be read safely
 */
export function scanListing(xml: string): Listing {
  const scanner = new ListingScanner(xml);
  if (!scanXml(xml, scanner) || !(lists.test(scanner.root) || attributes.test(scanner.root)))
    throw unreadable();
  return scanner.listing();
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
  readonly #xml: string;
  readonly #entries: Open[] = [];
  readonly #checksums: Span[] = [];
  readonly #top = new Map<string, Span>();
  #entry: Open | undefined;
  /** Depth of a checksum element that is being passed over, or 0. */
  #skipping = 0;
  #start = 0;
  /** Where the content of the open element of each depth begins. */
  readonly #contents: number[] = [];

  constructor(xml: string) {
    this.#xml = xml;
  }

  open(name: string, depth: number, start: number, content: number): void {
    if (depth === 1) this.root = name;
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
      this.#entry.end = end;
      this.#entry = undefined;
    } else if (
      this.#entry ? depth === this.#entry.depth + 1 && fields.has(name) : depth === 2 && topFields.has(name)
    ) {
      this.#record(name, { start: this.#contents[depth] ?? content, end: content });
    }
  }

  #begin(element: EntryElement, depth: number, start: number): void {
    this.#entry = { element, depth, start, found: new Map(), end: start };
    this.#entries.push(this.#entry);
  }

  #endChecksum(end: number): void {
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

  /** GetObjectAttributes answers about one object, whose fields are the document's own. */
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
    const raw = this.#xml.slice(span.start, span.end);
    const text = raw.includes('<') ? undefined : unescapeXml(raw);
    if (text === undefined) throw unreadable();
    return text;
  }
}

function spanOf<Name extends string>(name: Name, span: Span | undefined): { [name in Name]?: Span } {
  return span === undefined ? {} : ({ [name]: span } as { [name in Name]: Span });
}

/** `encoding-type=url` writes a space as `+`. */
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
