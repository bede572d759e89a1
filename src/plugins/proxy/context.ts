import type { BlockBody } from '../../core/block-body.ts';
import type { Payload } from '../../core/s3/received-payload.ts';
import type { S3Request } from '../../core/s3/request.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { ProxyConfig } from './config.ts';
import type { DataKeys } from './data-keys.ts';
import type { ProxyMetrics } from './metrics.ts';
import type { Manifests } from './multipart/manifest-store.ts';
import type { PartKeys } from './multipart/part-keys.ts';
import type { UploadKeys } from './multipart/upload-keys.ts';
import type { Uploads } from './multipart/uploads.ts';
import type { SpoolSpace } from './read/body/spool.ts';
import type { ObjectReader } from './read/stored-object.ts';
import type { HeldResponses } from './server/admit-request.ts';
import type { BucketFacts } from './state/bucket-facts.ts';
import type { BucketContents, StateStore } from './state/state-store.ts';
import type { Upstream } from './upstream/upstream.ts';

/** What the handlers of one proxy process share. */
export interface ProxyServices {
  readonly config: ProxyConfig;
  readonly log: Logger;
  readonly metrics: ProxyMetrics;
  /** Wraps and unwraps under the KEK, with bindings applied. */
  readonly keys: DataKeys;
  /** Those of parts, some of which are asked for ahead. */
  readonly partKeys: PartKeys;
  /** Those of open uploads in format 2. */
  readonly uploadKeys: UploadKeys;
  /** Sends callers' requests to the store. */
  readonly upstream: Upstream;
  /** Reads and writes the proxy's own helper objects. */
  readonly state: StateStore;
  /** What lies in a bucket itself, by the same connections. */
  readonly contents: BucketContents;
  /** What buckets keep, with a short memory. */
  readonly buckets: BucketFacts;
  /** Bounds the ciphertext on disk of reads and writes together. */
  readonly spoolSpace: SpoolSpace;
  readonly manifests: Manifests;
  /** Records of open multipart uploads. */
  readonly uploads: Uploads;
  /** Reads stored objects as plaintext; used by GET and by copies. */
  readonly reader: ObjectReader;
}

/** One request being answered. */
export interface RequestContext {
  readonly request: S3Request;
  /** The caller's body, decoded and checked while it is read. Reading starts when it is asked for. */
  readonly payload: Payload;
  readonly answer: ResponseWriter;
  /** Room for answers of the store that are read whole; released with the request. */
  readonly held: HeldResponses;
  /** Aborted when the caller disconnects or the time to drain is over. */
  readonly signal: AbortSignal;
  /** What is to be called when the request has ended, however it does. */
  atEnd(release: () => void): void;
  readonly log: Logger;
  /** For the access log: the version of the transit key that wraps the object's keys, once it is known. */
  keyVersion: number | undefined;
}

/** The answer to the caller; headers go out with the first byte or with `end`. */
export interface ResponseWriter {
  readonly started: boolean;
  /** `headers` replace earlier ones of that name. */
  head(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void;
  /**
   * Resolves when the bytes have been given to the operating system, so that `chunk` may be
   * overwritten (it is pooled memory); rejects when the caller's connection is gone.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** A long body is sent block by block, each of which is freed. */
  end(lastChunk?: Uint8Array | string | BlockBody): Promise<void>;
  /** Breaks the connection so that the caller cannot take what it has for a whole body. */
  destroy(reason: Error): void;
}

/** Answers one operation or throws S3Error, EnvelopeError or VaultError, which the server turns into an answer. */
export type OperationHandler = (services: ProxyServices, context: RequestContext) => Promise<void>;
