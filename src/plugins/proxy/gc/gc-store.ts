import type { Headers } from '../../../core/envelope/metadata.ts';

export interface ListedObject {
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

export interface OpenUpload {
  readonly key: string;
  readonly uploadId: string;
}

/** What garbage collection asks of the store. */
export interface GcStore {
  buckets(): Promise<string[]>;
  /** False only where the store says so: a bucket of others, or one that may not be looked at, exists. */
  exists(bucket: string): Promise<boolean>;
  list(bucket: string, prefix: string): AsyncIterable<readonly ListedObject[]>;
  openUploads(bucket: string): AsyncIterable<readonly OpenUpload[]>;
  /** @returns undefined when it does not exist. */
  read(bucket: string, key: string): Promise<string | undefined>;
  /** Metadata of every version of exactly this key; the current object only where no versions are kept. */
  versions(bucket: string, key: string): AsyncIterable<Headers>;
  delete(bucket: string, keys: readonly string[]): Promise<void>;
}
