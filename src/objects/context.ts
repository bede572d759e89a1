import type { BlockBody } from '../runtime/bounds/block-body.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import type { ObjectsConfig } from './config.ts';
import type { MemoryBudget, RequestMemory } from './held-memory.ts';
import type { DataKeys } from './keys/data-keys.ts';
import type { Manifests } from './multipart/manifest-store.ts';
import type { PartKeys } from './multipart/part-keys.ts';
import type { UploadKeys } from './multipart/upload-keys.ts';
import type { Uploads } from './multipart/uploads.ts';
import type { SpoolSpace } from './read/body/spool.ts';
import type { ObjectReader } from './read/stored-object.ts';
import type { Payload } from './s3/received-payload.ts';
import type { S3Request } from './s3/request.ts';
import type { BucketFacts } from './state/bucket-facts.ts';
import type { BucketContents, StateStore } from './state/state-store.ts';
import type { Upstream } from './upstream/upstream.ts';

/** Services that all operations of one process share. */
export interface ObjectServices {
  readonly config: ObjectsConfig;
  readonly log: Logger;
  readonly metrics: ObjectMetrics;
  /** Bounds what requests hold. */
  readonly memory: MemoryBudget;
  /** Wraps and unwraps under the KEK, with bindings applied. */
  readonly keys: DataKeys;
  /** DEKs of parts, some of which are requested ahead of their part. */
  readonly partKeys: PartKeys;
  /** DEKs of open uploads in format 2. */
  readonly uploadKeys: UploadKeys;
  /** Sends callers' requests to the store. */
  readonly upstream: Upstream;
  /** Reads and writes the proxy's own helper objects. */
  readonly state: StateStore;
  /** The contents of a bucket, over the same connections as `state`. */
  readonly contents: BucketContents;
  /** Versioning and object lock of buckets, cached for a short time. */
  readonly buckets: BucketFacts;
  /** Bounds the ciphertext on disk, of reads and writes together. */
  readonly spoolSpace: SpoolSpace;
  readonly manifests: Manifests;
  /** Records of open multipart uploads. */
  readonly uploads: Uploads;
  /** Reads stored objects as plaintext; used by GET and by copies. */
  readonly reader: ObjectReader;
}

/** Metrics that handlers count. Labels are operation names and stable reasons, never buckets or keys. */
export interface ObjectMetrics {
  request(operation: string, status: number, seconds: number): void;
  /** A stored object was refused; the label is the reason of the EnvelopeError. */
  refused(reason: string): void;
  bytes(direction: 'encrypted' | 'decrypted', count: number): void;
}

/** One request being answered. */
export interface RequestContext {
  readonly request: S3Request;
  /** The caller's body, decoded and checked while it is read; reading starts on demand. */
  readonly payload: Payload;
  readonly answer: ResponseWriter;
  /** What the request holds; released with it. */
  readonly memory: RequestMemory;
  /** Aborted when the caller disconnects or the time to drain is over. */
  readonly signal: AbortSignal;
  /** Registers a function to call when the request ends, for whatever reason. */
  atEnd(release: () => void): void;
  readonly log: Logger;
  /** For the access log: the version of the transit key that wraps the object's keys, once known. */
  keyVersion: number | undefined;
}

/** The answer to the caller; headers go out with the first byte or with `end`. */
export interface ResponseWriter {
  readonly started: boolean;
  /** `headers` replace earlier headers of the same name. */
  head(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void;
  /**
   * Resolves when the bytes have been given to the operating system, so that `chunk` may be
   * overwritten (it is pooled memory); rejects when the caller's connection is gone.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** A long body is sent block by block, and each block is freed once sent. */
  end(lastChunk?: Uint8Array | string | BlockBody): Promise<void>;
  /** Breaks the connection so that the caller cannot mistake a partial body for a whole one. */
  destroy(reason: Error): void;
}

/** Answers one operation. The server turns a thrown S3Error, EnvelopeError or VaultError into an error response. */
export type OperationHandler = (services: ObjectServices, context: RequestContext) => Promise<void>;
