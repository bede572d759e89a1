/** Stored bytes; objects that were copied share them. */
export interface BlobRef {
  readonly id: string;
  /** Bytes. */
  readonly size: number;
}

export type Tags = readonly (readonly [name: string, value: string])[];

/** What a write says about an object beside its body. */
export interface Description {
  /** Content headers and user metadata, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tags: Tags;
}

export interface StoredObject extends Description {
  readonly bucket: string;
  readonly key: string;
  /** Without quotes: MD5 in hexadecimal, for several parts `md5-N`. */
  readonly etag: string;
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** In order; of a multipart object one blob a part. */
  readonly content: readonly BlobRef[];
}

export interface Upload extends Description {
  readonly id: string;
  readonly bucket: string;
  readonly key: string;
  readonly begun: number;
}

export interface Part {
  readonly number: number;
  readonly etag: string;
  readonly blob: BlobRef | undefined;
  readonly modified: number;
}

export const partSize = ({ blob }: Part): number => blob?.size ?? 0;
