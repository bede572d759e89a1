export interface GcOptions {
  /** Buckets that the caller named; undefined: every bucket of the store. */
  readonly buckets: readonly string[] | undefined;
  readonly reservedPrefix: string;
  readonly stateBucket: string | undefined;
  /** Nothing younger is touched; milliseconds. */
  readonly minAge: number;
  readonly now: number;
}

/** Helper objects that nothing needs any more, of one upload or one manifest. */
export interface Garbage {
  readonly kind: 'upload-records' | 'manifest';
  readonly bucket: string;
  readonly keys: readonly string[];
  /** What it belonged to, as far as that is known. */
  readonly object?: { readonly bucket: string; readonly key: string } | undefined;
  readonly reason: string;
  readonly modified: number;
}

/** What a search works on. */
export interface GcScope extends GcOptions {
  readonly served: ReadonlySet<string>;
  /** False when buckets were named: then records of others may lie in a shared state bucket. */
  readonly servesAll: boolean;
}
