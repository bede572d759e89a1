export interface StateObject {
  readonly key: string;
  readonly lastModified: Date | undefined;
}

/**
 * Helper objects of the proxy (records, manifests), in the bucket of
 * the object or in `--state-bucket`. `bucket` is always the object's.
 * Failures throw S3Error 503.
 */
export interface StateStore {
  put(bucket: string, key: string, body: string): Promise<void>;
  /** @returns undefined when there is no such object. */
  get(bucket: string, key: string, limit: number): Promise<string | undefined>;
  /** Pages through all keys below `prefix`, in order. */
  list(bucket: string, prefix: string): AsyncIterable<readonly StateObject[]>;
  /** Deletes for good: by version where the bucket keeps versions. */
  delete(bucket: string, keys: readonly string[]): Promise<void>;
  close(): void;
}
