import { hash } from 'node:crypto';
import { EnvelopeError } from '../../../core/envelope/cipher.ts';
import { S3Error, s3Error } from '../../../core/s3/error.ts';
import { deleteObjectsXml } from '../../../core/s3/request-documents.ts';
import { childText } from '../../../core/s3/xml.ts';
import { retry } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { release } from '../../../runtime/memory.ts';
import type { ProxyConfig } from '../config.ts';
import {
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
  type StateObject,
  type StateVersion,
  versionPages,
} from './listings.ts';

/** Throws where there is no room for so many bytes; asked again for a further attempt. */
export type Admit = (bytes: number) => void;

/**
 * Helper objects of the proxy (records, manifests), in the bucket of
 * the object or in `--state-bucket`. `bucket` is always the object's.
 * Failures throw S3Error 503.
 */
export interface StateStore {
  put(bucket: string, key: string, body: string | Buffer): Promise<void>;
  /** @returns undefined when there is no such object */
  get(bucket: string, key: string, limit: number): Promise<string | undefined>;
  /**
   * The same for long ones: as a string, megabytes are kept until V8's next full collection.
   * @param admit called before the first byte of so many is read; nothing is read when it throws
   * @returns bytes that the caller releases
   */
  read(bucket: string, key: string, limit: number, admit: Admit): Promise<Buffer | undefined>;
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

export interface StateParts {
  readonly config: Pick<ProxyConfig, 'stateBucket' | 'reservedPrefix'>;
  /** Taken over, and closed with the store. */
  readonly upstream: Upstream;
  readonly buckets: BucketFacts;
}

/** Whether a further attempt may do better. */
const mayPass = (error: unknown): boolean => error instanceof S3Error && error.status >= 500;

const attempts = { initialMs: 100, maxMs: 2_000, maxAttempts: 3, isRetryable: mayPass };
const deleteAnswerLimit = 1024 * 1024;

/** Helper objects over the proxy's own connections to the store: the AWS SDK would take 20 MB of a sidecar's memory. */
export class UpstreamStateStore implements StateStore, BucketContents {
  readonly #parts: StateParts;

  constructor(parts: StateParts) {
    this.#parts = parts;
  }

  async put(bucket: string, key: string, body: string | Buffer): Promise<void> {
    const request = { method: 'PUT', bucket: this.#home(bucket), key };
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    await this.#attempt(async (upstream) => {
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

  async getVersion(
    bucket: string,
    { key, versionId = 'null' }: StateVersion,
    limit: number,
  ): Promise<string | undefined> {
    return textOf(await this.#read({ method: 'GET', bucket, key, query: [['versionId', versionId]] }, limit));
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

  async *list(bucket: string, prefix: string): AsyncGenerator<readonly StateObject[]> {
    try {
      yield* objectPages(this.#attempt, this.#home(bucket), prefix);
    } catch (error) {
      stateFailure(error);
    }
  }

  async delete(bucket: string, keys: readonly string[]): Promise<void> {
    const { buckets, config } = this.#parts;
    const home = this.#home(bucket);
    const pages = (prefix: string) => versionPages(this.#attempt, home, prefix);
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
    yield* kept ? versionPages(this.#attempt, bucket, '') : objectPages(this.#attempt, bucket, '');
  }

  openUploads(bucket: string): AsyncGenerator<readonly string[]> {
    return openUploadPages(this.#attempt, bucket);
  }

  async deleteVersions(bucket: string, versions: readonly StateVersion[]): Promise<void> {
    for (let start = 0; start < versions.length; start += deleteBatchSize)
      await this.#deleteBatch(bucket, versions.slice(start, start + deleteBatchSize));
  }

  close(): void {
    this.#parts.upstream.close();
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
    return this.#attempt(async (upstream) => {
      const result = await xmlResult(await upstream.send(request, body), 'DeleteResult', deleteAnswerLimit);
      const [first] = result.children.get('Error') ?? [];
      if (first) throw refusalOf(500, `<Code>${childText(first, 'Code') ?? ''}</Code>`);
    });
  }
}

function textOf(bytes: Buffer | undefined): string | undefined {
  const text = bytes?.toString();
  if (bytes !== undefined) release(bytes);
  return text;
}

/** An overlong object stays what it is, so that no further attempt may follow. */
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

/** What a store says of an object that does not exist. */
const noObject: ReadonlySet<string> = new Set(['NoSuchKey']);
/** The same of a version, and of a delete marker. */
const noVersion: ReadonlySet<string> = new Set(['NoSuchKey', 'NoSuchVersion', 'MethodNotAllowed']);

/** Throws what went wrong with a helper object as callers see it. The store's own words stay in the cause. */
function stateFailure(error: unknown): never {
  if (!(error instanceof S3Error) || error.code === 'ServiceUnavailable') throw error;
  if (error.code === 'NoSuchBucket') throw s3Error('NoSuchBucket', undefined, { cause: error });
  const message = `A helper object of the proxy could not be reached in the object store (${error.code}). Please retry.`;
  throw s3Error('ServiceUnavailable', message, { cause: error });
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
