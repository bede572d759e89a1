import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Headers, ObjectName } from '../../../objects/format/metadata.ts';
import { decodeForm } from '../../../objects/s3/form-text.ts';
import { type Deletable, deletableObjects } from '../../../objects/state/listings.ts';
import { defaultCredentials } from '../../../objects/upstream/credentials.ts';
import { storeClient } from '../../../objects/upstream/s3-client.ts';
import { type StoreAddress, trustedAuthorities } from '../../../objects/upstream/store-settings.ts';
import { httpStatusOf } from '../../../runtime/errors.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import type { CommandStore, Head, ListedObject, ListFrom, OpenUpload } from './command-store.ts';
import type { Env } from './run.ts';

/** @throws SvcError if AWS_CA_BUNDLE cannot be read */
export async function openSdkStore(
  component: string,
  address: StoreAddress,
  env: Env,
): Promise<CommandStore> {
  const log = createLogger({ component, level: 'error' });
  const credentials = defaultCredentials(env, log);
  return new SdkStore(storeClient({ address, credentials, ca: trustedAuthorities(env) }));
}

/** A part list of 10,000 parts takes 2 MB. */
const readLimit = 16 * 1024 * 1024;
/** Stands in listings for characters that XML cannot represent. */
const replacement = '\uFFFD';

/** Through `@aws-sdk/client-s3`. */
export class SdkStore implements CommandStore {
  readonly #client: S3Client;

  constructor(client: S3Client) {
    this.#client = client;
  }

  async buckets(): Promise<string[]> {
    const { Buckets = [] } = await this.#client.send(new ListBucketsCommand({}));
    return Buckets.flatMap(({ Name }) => Name ?? []);
  }

  async exists(Bucket: string): Promise<boolean> {
    try {
      await this.#client.send(new HeadBucketCommand({ Bucket }));
      return true;
    } catch (error) {
      const status = httpStatusOf(error);
      if (status === undefined || status >= 500) throw error;
      return status !== 404;
    }
  }

  async *list(Bucket: string, Prefix: string, from: ListFrom = {}): AsyncGenerator<readonly ListedObject[]> {
    const { after: StartAfter, signal: abortSignal } = from;
    const options = abortSignal === undefined ? {} : { abortSignal };
    const send = (next: { ContinuationToken?: string | undefined }) => {
      const begin = next.ContinuationToken === undefined ? { StartAfter } : next;
      const command = new ListObjectsV2Command({ Bucket, Prefix, EncodingType: 'url', ...begin });
      return this.#client.send(command, options);
    };
    for await (const page of sdkPages(send, ({ NextContinuationToken }) => ({
      ContinuationToken: NextContinuationToken,
    })))
      yield listedIn(page);
  }

  async *openUploads(Bucket: string): AsyncGenerator<readonly OpenUpload[]> {
    const send = (from: object) => this.#client.send(new ListMultipartUploadsCommand({ Bucket, ...from }));
    for await (const { Uploads = [] } of sdkPages(send, (page) => ({
      KeyMarker: page.NextKeyMarker,
      UploadIdMarker: page.NextUploadIdMarker,
    })))
      yield Uploads.map(({ Key = '', UploadId = '' }) => ({ key: Key, uploadId: UploadId }));
  }

  async read(Bucket: string, Key: string): Promise<string | undefined> {
    try {
      const answer = await this.#client.send(new GetObjectCommand({ Bucket, Key }));
      if ((answer.ContentLength ?? 0) > readLimit) throw named('EntityTooLarge', `${Key} is too long`);
      return await answer.Body?.transformToString();
    } catch (error) {
      return unlessMissing(error);
    }
  }

  async head(name: ObjectName, signal: AbortSignal): Promise<Head> {
    try {
      return { found: true, headers: await this.#metadata(name, undefined, signal) };
    } catch (error) {
      const status = httpStatusOf(error);
      if (status === 400 || status === 405) return { found: 'refused', status };
      if (status !== 404) throw error;
      return (await this.#isListed(name, signal)) ? { found: 'refused', status } : { found: false };
    }
  }

  /** The current version is requested without a version id, so it is found whatever the listing contains. */
  async *versions(bucket: string, key: string): AsyncGenerator<Headers> {
    const look = (version?: string) => this.#metadata({ bucket, key }, version).catch(unlessMissing);
    const current = await look();
    if (current !== undefined) yield current;
    for await (const version of this.#versionIds(bucket, key)) {
      const headers = await look(version);
      if (headers !== undefined) yield headers;
    }
  }

  async delete(bucket: string, keys: readonly string[], reservedPrefix: string): Promise<void> {
    const everything = (prefix: string) => this.#deletable(bucket, prefix);
    for await (const batch of deletableObjects(keys, everything, reservedPrefix))
      await this.#deleteBatch(bucket, batch);
  }

  close(): void {
    this.#client.destroy();
  }

  /** @throws Error named after the store's first error */
  async #deleteBatch(Bucket: string, batch: readonly Deletable[]): Promise<void> {
    const Objects = batch.map(({ key, versionId }) => ({ Key: key, VersionId: versionId }));
    const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } });
    const [first] = (await this.#client.send(command)).Errors ?? [];
    if (first) throw named(first.Code ?? 'unknown', 'an object could not be deleted');
  }

  async *#deletable(bucket: string, prefix: string): AsyncGenerator<readonly Deletable[]> {
    for await (const { Versions = [], DeleteMarkers = [] } of this.#versionPages(bucket, prefix)) {
      const entries = [...Versions, ...DeleteMarkers];
      yield entries.map(({ Key = '', VersionId }) => ({ key: Key, versionId: VersionId }));
    }
  }

  #versionPages(Bucket: string, Prefix: string): AsyncGenerator<ListObjectVersionsCommandOutput> {
    const send = (from: object) =>
      this.#client.send(new ListObjectVersionsCommand({ Bucket, Prefix, ...from }));
    return sdkPages(send, (page) => ({
      KeyMarker: page.NextKeyMarker,
      VersionIdMarker: page.NextVersionIdMarker,
    }));
  }

  /** Without a latest version `null`: it is the object that a request without version id gets. */
  async *#versionIds(bucket: string, key: string): AsyncGenerator<string> {
    for await (const { Versions = [] } of this.#versionPages(bucket, key)) {
      for (const { Key, VersionId = 'null', IsLatest = true } of Versions)
        if (Key === key && !(IsLatest && VersionId === 'null')) yield VersionId;
      if (Versions.some(({ Key }) => Key !== key)) return;
    }
  }

  async #metadata(
    { bucket: Bucket, key: Key }: ObjectName,
    VersionId: string | undefined,
    abortSignal?: AbortSignal,
  ): Promise<Headers> {
    const command = new HeadObjectCommand({ Bucket, Key, VersionId });
    const { Metadata = {} } = await this.#client.send(
      command,
      abortSignal === undefined ? {} : { abortSignal },
    );
    const named = Object.entries(Metadata).map(([name, value]) => [
      `x-amz-meta-${name.toLowerCase()}`,
      value,
    ]);
    return Object.fromEntries(named);
  }

  /** Some stores list a key differently from how they accept it; such an object exists but cannot be examined. */
  async #isListed({ bucket: Bucket, key }: ObjectName, abortSignal: AbortSignal): Promise<boolean> {
    if (key.includes(replacement)) return true;
    const command = new ListObjectsV2Command({ Bucket, Prefix: key, EncodingType: 'url', MaxKeys: 1 });
    return listedIn(await this.#client.send(command, { abortSignal })).some((one) => one.key === key);
  }
}

function listedIn({ Contents = [], EncodingType }: ListObjectsV2CommandOutput): readonly ListedObject[] {
  const decoded = EncodingType === 'url' ? (key: string) => decodeForm(key) ?? key : (key: string) => key;
  return Contents.flatMap(({ Key, Size = 0, LastModified }) => {
    const modified = LastModified?.getTime() ?? Number.POSITIVE_INFINITY;
    return Key === undefined ? [] : [{ key: decoded(Key), size: Size, modified }];
  });
}

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** @throws the error, unless it says that there is no such object */
function unlessMissing(error: unknown): undefined {
  const { name } = error as Error;
  if (name !== 'NoSuchKey' && name !== 'NotFound') throw error;
}

/**
 * @param send requests the page that begins at these markers
 * @param following markers of the next page, which are undefined or missing if the store does not name them
 * @throws Error `BrokenListing` for a listing that would never end, or lacks its continuation; errors of `send`
 */
export async function* sdkPages<M extends object, P extends { readonly IsTruncated?: boolean | undefined }>(
  send: (markers: Partial<M>) => Promise<P>,
  following: (page: P) => M,
): AsyncGenerator<P> {
  let markers: Partial<M> | undefined = {};
  while (markers !== undefined) {
    const page: P = await send(markers);
    yield page;
    const next: M | undefined = page.IsTruncated === true ? following(page) : undefined;
    if (next !== undefined && isBroken(markers, next))
      throw named('BrokenListing', 'the listing does not go on');
    markers = next;
  }
}

/** The first marker is the one that must be there, and some marker must differ from the last page's. */
function isBroken(last: object, next: object): boolean {
  const [first] = Object.values(next);
  return first === undefined || first === '' || JSON.stringify(last) === JSON.stringify(next);
}
