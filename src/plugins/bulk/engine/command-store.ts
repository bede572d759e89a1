import type { Headers, ObjectName } from '../../../objects/format/metadata.ts';

/** What commands do in a store with the credentials of whoever calls them, and without any key. */
export interface CommandStore {
  buckets(): Promise<string[]>;
  /** False only if the store reports that the bucket does not exist; a bucket that is not accessible exists. */
  exists(bucket: string): Promise<boolean>;
  /** Pages of objects in byte order of their keys. */
  list(bucket: string, prefix: string, from?: ListFrom): AsyncIterable<readonly ListedObject[]>;
  openUploads(bucket: string): AsyncIterable<readonly OpenUpload[]>;
  /** @returns undefined if the object does not exist */
  read(bucket: string, key: string): Promise<string | undefined>;
  head(name: ObjectName, signal: AbortSignal): Promise<Head>;
  /** Metadata of every version of exactly this key; only of the current object if the bucket keeps no versions. */
  versions(bucket: string, key: string): AsyncIterable<Headers>;
  /** @param reservedPrefix of helper objects, whose folders are listed once each */
  delete(bucket: string, keys: readonly string[], reservedPrefix: string): Promise<void>;
  close(): void;
}

export interface ListedObject {
  readonly key: string;
  /** In bytes, as stored. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

export interface ListFrom {
  /** A key after which the listing begins. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal;
}

export interface OpenUpload {
  readonly key: string;
  readonly uploadId: string;
}

/** The result of reading an object's metadata. */
export type Head =
  | { readonly found: true; readonly headers: Headers }
  /** The object no longer exists. */
  | { readonly found: false }
  /** The store refuses the request, for example for an object under a customer key. */
  | { readonly found: 'refused'; readonly status: number };
