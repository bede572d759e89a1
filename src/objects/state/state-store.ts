import { hash } from 'node:crypto';
import { messageOf } from '../../runtime/errors.ts';
import { retry } from '../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { release } from '../../runtime/memory.ts';
import type { ObjectsConfig } from '../config.ts';
import { EnvelopeError } from '../format/cipher.ts';
import { type MemoryBudget, MemorySpent } from '../held-memory.ts';
import { S3Error, s3Error } from '../s3/error.ts';
import { deleteObjectsXml } from '../s3/request-documents.ts';
import { element } from '../s3/xml-text.ts';
import {
  beginAnswer,
  readBody,
  refusal,
  refusalOf,
  type Upstream,
  type UpstreamRequest,
  type UpstreamResponse,
  xmlResult,
} from '../upstream/upstream.ts';
import type { BucketFacts } from './bucket-facts.ts';
import {
  type Attempt,
  type Deletable,
  deletableObjects,
  deleteBatchSize,
  objectPages,
  openUploadPages,
  type PageReading,
  type StateObject,
  type StateVersion,
  versionPages,
} from './listings.ts';

/** Reserves room for so many bytes, or throws; called again for each retry. */
export type Admit = (bytes: number) => void;

/**
 * `if-absent` keeps an object that exists; a store that knows no conditional writes replaces it nevertheless.
 */
export type PutWhen = 'always' | 'if-absent';

/**
 * Helper objects of the proxy (records, manifests), in the object's bucket or in `--state-bucket`; `bucket` is always
 * the object's.
 * @throws S3Error 503, or NoSuchBucket; reading also EnvelopeError `malformed-metadata` for an object longer than
 *   `limit` bytes
 */
export interface StateStore {
  put(bucket: string, key: string, body: string | Buffer, when?: PutWhen): Promise<void>;
  /** @returns undefined if the object does not exist */
  get(bucket: string, key: string, limit: number): Promise<string | undefined>;
  /**
   * Reads a long object as bytes; a string of megabytes would stay in memory until V8's next full collection.
   * @param admit called with the number of bytes before the first one is read; nothing is read if it throws
   * @returns a buffer that the caller releases
   */
  read(bucket: string, key: string, limit: number, admit: Admit): Promise<Buffer | undefined>;
  /** Pages through all keys below `prefix`, or those behind the key `after`, in order. */
  list(bucket: string, prefix: string, after?: string): AsyncIterable<readonly StateObject[]>;
  /** Deletes permanently: every version if the bucket keeps versions. */
  delete(bucket: string, keys: readonly string[]): Promise<void>;
  close(): void;
}

/** The contents of the bucket itself, wherever helper objects are kept. Throws like StateStore. */
export interface BucketContents extends Pick<StateStore, 'put' | 'read'> {
  /** Everything to delete before the bucket can be deleted, in key order: objects, or versions and delete markers. */
  everything(bucket: string): AsyncIterable<readonly StateVersion[]>;
  /** Ids of open multipart uploads. */
  openUploads(bucket: string): AsyncIterable<readonly string[]>;
  /** @returns undefined for a delete marker, and if the version does not exist */
  readVersion(
    bucket: string,
    version: StateVersion,
    limit: number,
    admit: Admit,
  ): Promise<Buffer | undefined>;
  /** Deletes exactly these versions. */
  deleteVersions(bucket: string, versions: readonly StateVersion[]): Promise<void>;
}

export interface StateParts {
  readonly config: Pick<ObjectsConfig, 'stateBucket' | 'reservedPrefix'>;
  /** Owned: closed together with the store. */
  readonly upstream: Upstream;
  readonly buckets: BucketFacts;
  readonly memory: MemoryBudget;
}

/** Whether a retry may help. */
const mayPass = (error: unknown): boolean =>
  error instanceof S3Error && error.status >= 500 && !(error instanceof MemorySpent);

const attempts = { initialMs: 100, maxMs: 2_000, maxAttempts: 3, isRetryable: mayPass };
const deleteAnswerLimit = 1024 * 1024;

/** Stores helper objects over the proxy's own connections, since the AWS SDK would take 20 MB of a sidecar's memory. */
export class UpstreamStateStore implements StateStore, BucketContents {
  readonly #parts: StateParts;

  constructor(parts: StateParts) {
    this.#parts = parts;
  }

  async put(bucket: string, key: string, body: string | Buffer, when: PutWhen = 'always'): Promise<void> {
    const request = { method: 'PUT', bucket: this.#home(bucket), key };
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    await this.#attempt(async (upstream) => {
      if (when === 'if-absent' && (await putIfAbsent(upstream, request, bytes))) return;
      const response = await upstream.send(request, bytes);
      if (response.status !== 200) throw await refusal(response);
      response.body.resume();
    });
  }

  async get(bucket: string, key: string, limit: number): Promise<string | undefined> {
    return textOf(await this.#read({ method: 'GET', bucket: this.#home(bucket), key }, limit));
  }

  read(bucket: string, key: string, limit: number, admit: Admit): Promise<Buffer | undefined> {
    return this.#read({ method: 'GET', bucket: this.#home(bucket), key }, limit, admit);
  }

  readVersion(
    bucket: string,
    { key, versionId = 'null' }: StateVersion,
    limit: number,
    admit: Admit,
  ): Promise<Buffer | undefined> {
    return this.#read({ method: 'GET', bucket, key, query: [['versionId', versionId]] }, limit, admit);
  }

  #read(request: UpstreamRequest, limit: number, admit?: Admit): Promise<Buffer | undefined> {
    const missing = request.query === undefined ? noObject : noVersion;
    return this.#attempt(async (upstream) => {
      const response = await upstream.send(request);
      if (response.status === 200) return readWithin(response, limit, admit);
      const refused = await refusal(response);
      if (missing.has(refused.code)) return undefined;
      throw refused;
    });
  }

  async *list(bucket: string, prefix: string, after?: string): AsyncGenerator<readonly StateObject[]> {
    try {
      yield* objectPages(this.#reading(), this.#home(bucket), prefix, after);
    } catch (error) {
      stateFailure(error);
    }
  }

  async delete(bucket: string, keys: readonly string[]): Promise<void> {
    const { buckets, config } = this.#parts;
    const home = this.#home(bucket);
    const pages = (prefix: string) => versionPages(this.#reading(), home, prefix);
    const versions = (await buckets.keepsVersions(home)) === 'yes' ? pages : undefined;
    try {
      for await (const batch of deletableObjects(keys, versions, config.reservedPrefix))
        await this.#deleteBatch(home, batch);
    } catch (error) {
      stateFailure(error);
    }
  }

  async *everything(bucket: string): AsyncGenerator<readonly StateVersion[]> {
    const kept = (await this.#parts.buckets.keepsVersionsNow(bucket)) !== 'no';
    const reading = this.#reading();
    yield* kept ? versionPages(reading, bucket, '') : objectPages(reading, bucket, '');
  }

  openUploads(bucket: string): AsyncGenerator<readonly string[]> {
    return openUploadPages(this.#reading(), bucket);
  }

  async deleteVersions(bucket: string, versions: readonly StateVersion[]): Promise<void> {
    for (let start = 0; start < versions.length; start += deleteBatchSize)
      await this.#deleteBatch(bucket, versions.slice(start, start + deleteBatchSize));
  }

  close(): void {
    this.#parts.upstream.close();
  }

  #reading(): PageReading {
    return { attempt: this.#attempt, memory: this.#parts.memory };
  }

  #home(bucket: string): string {
    return this.#parts.config.stateBucket ?? bucket;
  }

  readonly #attempt: Attempt = (request) =>
    retry(() => request(this.#parts.upstream), attempts).catch(stateFailure);

  /** @throws S3Error for the first object that could not be deleted */
  #deleteBatch(bucket: string, batch: readonly Deletable[]): Promise<void> {
    const objects = batch.map(({ key, versionId }) => ({ key, ...(versionId && { versionId }) }));
    const body = Buffer.from(deleteObjectsXml({ quiet: true, objects }));
    const headers = { 'content-type': 'application/xml', 'content-md5': hash('md5', body, 'base64') };
    const request = { method: 'POST', bucket, key: '', query: [['delete', ''] as const], headers };
    const held = this.#parts.memory.hold('pages');
    return this.#attempt(async (upstream) => {
      await beginAnswer(held);
      const response = await upstream.send(request, body);
      const result = await xmlResult(response, deletionErrors, deleteAnswerLimit, held);
      const [first] = result.entries;
      if (first) throw refusalOf(500, element('Code', first.get('Code') ?? ''));
    }).finally(() => held.release());
  }
}

/** @returns false if the store does not know the condition */
async function putIfAbsent(upstream: Upstream, request: UpstreamRequest, bytes: Buffer): Promise<boolean> {
  const response = await upstream.send({ ...request, headers: { 'if-none-match': '*' } }, bytes);
  if (isWrittenOnce.has(response.status)) {
    response.body.resume();
    return true;
  }
  const refused = await refusal(response);
  if (response.status === 400 || response.status === 501) return false;
  throw refused;
}

/** Written now, or before, or by somebody else at the same time. */
const isWrittenOnce: ReadonlySet<number> = new Set([200, 409, 412]);

function textOf(bytes: Buffer | undefined): string | undefined {
  const text = bytes?.toString();
  if (bytes !== undefined) release(bytes);
  return text;
}

const deletionErrors = { root: 'DeleteResult', entries: ['Error'], fields: ['Code', 'Key'] };

/** An overlong object is not an S3Error, because retries would not help. */
async function readWithin(response: UpstreamResponse, limit: number, admit?: Admit): Promise<Buffer> {
  const announced = Number(response.headers['content-length'] ?? limit);
  if (announced <= limit) {
    try {
      admit?.(announced);
    } catch (error) {
      response.body.destroy();
      throw error;
    }
    return readBody(response, limit);
  }
  response.body.destroy();
  throw new EnvelopeError('malformed-metadata', `a helper object is longer than ${limit} bytes`);
}

/** Errors for an object that does not exist. */
const noObject: ReadonlySet<string> = new Set(['NoSuchKey']);
/** Errors for a missing version or a delete marker. */
const noVersion: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchVersion', 'MethodNotAllowed']);

/** Converts a failure of a helper object to what callers see; the store's own error becomes the cause. */
function stateFailure(error: unknown): never {
  if (!(error instanceof S3Error) || error instanceof MemorySpent || error.code === 'ServiceUnavailable')
    throw error;
  if (error.code === 'NoSuchBucket') throw s3Error('NoSuchBucket', undefined, { cause: error });
  const message = `A helper object of the proxy could not be reached in the object store (${error.code}). Please retry.`;
  throw s3Error('ServiceUnavailable', message, { cause: error });
}

/** Further objects are left to `svc proxy gc`, like those of a process that ends before their time. */
const maxWaiting = 10_000;

const always = () => Promise.resolve(true);

/** Deletes helper objects once current readers have had time to finish. */
export class DelayedRemovals {
  readonly #state: Pick<StateStore, 'delete'>;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #waiting = new Map<string, NodeJS.Timeout>();

  constructor(state: Pick<StateStore, 'delete'>, log: Pick<Logger, 'warn'>) {
    this.#state = state;
    this.#log = log;
  }

  /** @param isUnneeded asked when the time has come: false leaves the object, for good */
  add(bucket: string, key: string, graceMs: number, isUnneeded: () => Promise<boolean> = always): void {
    const id = JSON.stringify([bucket, key]);
    if (this.#waiting.has(id) || this.#waiting.size >= maxWaiting) return;
    const remove = async () => {
      this.#waiting.delete(id);
      try {
        if (await isUnneeded()) await this.#state.delete(bucket, [key]);
      } catch (error) {
        this.#log.warn('proxy.upload.records-left', { error: messageOf(error) });
      }
    };
    this.#waiting.set(id, setTimeout(() => void remove(), graceMs).unref());
  }

  close(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}
