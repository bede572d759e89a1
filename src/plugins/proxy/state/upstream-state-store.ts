import { hash } from 'node:crypto';
import { EnvelopeError } from '../../../core/envelope/cipher.ts';
import { S3Error, s3Error } from '../../../core/s3/error.ts';
import { deleteObjectsXml } from '../../../core/s3/request-documents.ts';
import { childText } from '../../../core/s3/xml.ts';
import { retry } from '../../../runtime/lifecycle/wait.ts';
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
import { type Attempt, objectPages, openUploadPages, versionPages } from './listings.ts';
import type { Admit, BucketContents, StateObject, StateStore, StateVersion } from './state-store.ts';

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
/** DeleteObjects takes no more. */
const deleteBatchSize = 1_000;

/** Helper objects over the proxy's own connections to the store: the AWS SDK would take 20 MB of a sidecar's memory. */
export class UpstreamStateStore implements StateStore, BucketContents {
  readonly #parts: StateParts;

  constructor(parts: StateParts) {
    this.#parts = parts;
  }

  async put(bucket: string, key: string, body: string): Promise<void> {
    const request = { method: 'PUT', bucket: this.#home(bucket), key };
    await this.#attempt(async (upstream) => {
      const response = await upstream.send(request, Buffer.from(body));
      if (response.status !== 200) throw await refusal(response);
      response.body.resume();
    });
  }

  get(bucket: string, key: string, limit: number, admit?: Admit): Promise<string | undefined> {
    return this.#read({ method: 'GET', bucket: this.#home(bucket), key }, limit, admit);
  }

  getVersion(
    bucket: string,
    { key, versionId = 'null' }: StateVersion,
    limit: number,
  ): Promise<string | undefined> {
    return this.#read({ method: 'GET', bucket, key, query: [['versionId', versionId]] }, limit);
  }

  #read(request: UpstreamRequest, limit: number, admit?: Admit): Promise<string | undefined> {
    const missing = request.query === undefined ? noObject : noVersion;
    return this.#attempt(async (upstream) => {
      const response = await upstream.send(request);
      if (response.status === 200) return (await readWithin(response, limit, admit)).toString();
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

export interface Deletable {
  readonly key: string;
  readonly versionId?: string | undefined;
}

/** Every version and delete marker below a prefix, in pages of at most 1,000. */
export type VersionPages = (prefix: string) => AsyncIterable<readonly Deletable[]>;

/** DeleteObjects takes no more. */
const batchSize = 1_000;

/**
 * What has to be deleted so that nothing of `keys` remains, in batches that one DeleteObjects
 * takes. With `versions`, each version and delete marker is named.
 */
export async function* deletableObjects(
  keys: readonly string[],
  versions: VersionPages | undefined,
  reservedPrefix: string,
): AsyncGenerator<Deletable[]> {
  if (versions === undefined) {
    for (let start = 0; start < keys.length; start += batchSize)
      yield keys.slice(start, start + batchSize).map((key) => ({ key }));
    return;
  }
  for (const [prefix, wanted] of byFolder(keys, reservedPrefix)) {
    for await (const page of versions(prefix)) {
      const batch = page.filter(({ key }) => wanted.has(key));
      if (batch.length > 0) yield batch;
    }
  }
}

/** Keys by the folder of their upload or object, which is listed once for all of them. */
function byFolder(keys: readonly string[], reservedPrefix: string): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const key of keys) {
    const folder = folderOf(key, reservedPrefix);
    const known = folders.get(folder);
    if (known) known.add(key);
    else folders.set(folder, new Set([key]));
  }
  return folders;
}

/** `<reserved>uploads/<hash>/` or `<reserved>manifests/<hash>/`; any other key stands for itself. */
function folderOf(key: string, reservedPrefix: string): string {
  if (!key.startsWith(reservedPrefix)) return key;
  const [kind, hash, ...rest] = key.slice(reservedPrefix.length).split('/');
  return rest.length === 0 ? key : `${reservedPrefix}${kind}/${hash}/`;
}
