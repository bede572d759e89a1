/** `Object` stands for the object itself in an answer of GetObjectAttributes. */
export type EntryElement =
  | 'Contents'
  | 'Version'
  | 'DeleteMarker'
  | 'CommonPrefixes'
  | 'Upload'
  | 'Part'
  | 'Object';

/** One entry of a listing, as the store gave it. */
export interface ListingEntry {
  readonly element: EntryElement;
  /** Decoded, of CommonPrefixes the prefix; empty for parts and objects, which have no name there. */
  readonly key: string;
  /** With the store's quotes. */
  readonly etag?: string;
  /** Stored bytes. */
  readonly size?: number;
  readonly versionId?: string;
  readonly uploadId?: string;
  readonly partNumber?: number;
}

/** A stretch of the document's text that can be replaced. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface LocatedEntry extends ListingEntry {
  readonly span: Span;
  readonly etagSpan?: Span;
  readonly sizeSpan?: Span;
}

/** A listing of the store, read and ready to be rewritten. */
export interface Listing {
  readonly xml: string;
  readonly entries: readonly LocatedEntry[];
  /** `Checksum…` elements, which are of ciphertext. */
  readonly checksums: readonly Span[];
  readonly keyCount?: Span;
  readonly isTruncated?: Span;
  readonly nextMarker?: Span;
  /** The name of the root element. */
  readonly root: string;
}
