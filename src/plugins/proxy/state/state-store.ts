import type { Logger } from '../../../runtime/logging/logger.ts';

export interface StateObject {
  readonly key: string;
  readonly lastModified: Date | undefined;
}

/** `versionId` is undefined where the bucket keeps no versions. */
export interface StateVersion extends StateObject {
  readonly versionId?: string | undefined;
}

/** Throws where there is no room for so many bytes; asked again for a further attempt. */
export type Admit = (bytes: number) => void;

/**
 * Helper objects of the proxy (records, manifests), in the bucket of
 * the object or in `--state-bucket`. `bucket` is always the object's.
 * Failures throw S3Error 503.
 */
export interface StateStore {
  put(bucket: string, key: string, body: string): Promise<void>;
  /**
   * @param admit called before the first byte of so many is read; nothing is read when it throws
   * @returns undefined when there is no such object.
   */
  get(bucket: string, key: string, limit: number, admit?: Admit): Promise<string | undefined>;
  /** Pages through all keys below `prefix`, in order. */
  list(bucket: string, prefix: string): AsyncIterable<readonly StateObject[]>;
  /** Deletes for good: by version where the bucket keeps versions. */
  delete(bucket: string, keys: readonly string[]): Promise<void>;
  close(): void;
}

/** What lies in a bucket itself, wherever helper objects are kept now. Failures throw S3Error 503. */
export interface BucketContents extends Pick<StateStore, 'put' | 'get'> {
  /** All that would have to go before the bucket can: objects, or versions and delete markers; in the order of keys. */
  everything(bucket: string): AsyncIterable<readonly StateVersion[]>;
  /** Ids of the uploads in parts that are open. */
  openUploads(bucket: string): AsyncIterable<readonly string[]>;
  /** @returns undefined for a delete marker, and when there is no such version */
  getVersion(bucket: string, version: StateVersion, limit: number): Promise<string | undefined>;
  /** Deletes exactly these. */
  deleteVersions(bucket: string, versions: readonly StateVersion[]): Promise<void>;
}

/** More wait for `svc proxy gc`, as do those of a process that ends before their time. */
const mostWaiting = 10_000;

/** Helper objects that go once those who may still ask for them have had their time. */
export class DelayedRemovals {
  readonly #state: Pick<StateStore, 'delete'>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #waiting = new Map<string, NodeJS.Timeout>();

  constructor(state: Pick<StateStore, 'delete'>, log: Pick<Logger, 'warn'>) {
    this.#state = state;
    this.#log = log;
  }

  add(bucket: string, key: string, graceMs: number): void {
    const id = JSON.stringify([bucket, key]);
    if (this.#waiting.has(id) || this.#waiting.size >= mostWaiting) return;
    const remove = () => {
      this.#waiting.delete(id);
      this.#state.delete(bucket, [key]).catch((error: Error) => {
        this.#log.warn('proxy.upload.records-left', { error: error.message });
      });
    };
    this.#waiting.set(id, setTimeout(remove, graceMs).unref());
  }

  close(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}
