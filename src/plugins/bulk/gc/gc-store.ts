import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Headers } from '../../../objects/format/metadata.ts';
import { type Deletable, deletableObjects } from '../../../objects/state/listings.ts';
import { sdkPages } from '../../../objects/upstream/sdk-listing.ts';

export interface ListedObject {
  readonly key: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

export interface OpenUpload {
  readonly key: string;
  readonly uploadId: string;
}

/** Store operations that garbage collection needs. */
export interface GcStore {
  buckets(): Promise<string[]>;
  /** False only if the store reports that the bucket does not exist; a bucket that is not accessible exists. */
  exists(bucket: string): Promise<boolean>;
  list(bucket: string, prefix: string): AsyncIterable<readonly ListedObject[]>;
  openUploads(bucket: string): AsyncIterable<readonly OpenUpload[]>;
  /** @returns undefined if the object does not exist */
  read(bucket: string, key: string): Promise<string | undefined>;
  /** Metadata of every version of exactly this key; only of the current object if the bucket keeps no versions. */
  versions(bucket: string, key: string): AsyncIterable<Headers>;
  delete(bucket: string, keys: readonly string[]): Promise<void>;
}

/** A part list of 10,000 parts takes 2 MB. */
const readLimit = 16 * 1024 * 1024;

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

const isMissing = (error: unknown): boolean => (error as Error).name === 'NoSuchKey';

/** Garbage collection's view of a store, through `@aws-sdk/client-s3`. */
export class SdkGcStore implements GcStore {
  readonly #client: S3Client;
  readonly #reservedPrefix: string;

  constructor(client: S3Client, reservedPrefix: string) {
    this.#client = client;
    this.#reservedPrefix = reservedPrefix;
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
      const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
      if (status === undefined || status >= 500) throw error;
      return status !== 404;
    }
  }

  async *list(Bucket: string, Prefix: string): AsyncGenerator<readonly ListedObject[]> {
    const send = (from: object) => this.#client.send(new ListObjectsV2Command({ Bucket, Prefix, ...from }));
    for await (const { Contents = [] } of sdkPages(send, (page) => ({
      ContinuationToken: page.NextContinuationToken,
    })))
      yield Contents.map(({ Key = '', LastModified }) => ({
        key: Key,
        modified: LastModified?.getTime() ?? Number.POSITIVE_INFINITY,
      }));
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
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** The current version is requested without a version id, so it is found whatever the listing contains. */
  async *versions(bucket: string, key: string): AsyncGenerator<Headers> {
    const current = await this.#metadata(bucket, key, 'null');
    if (current !== undefined) yield current;
    for await (const versionId of this.#versionIds(bucket, key)) {
      const headers = await this.#metadata(bucket, key, versionId);
      if (headers !== undefined) yield headers;
    }
  }

  async delete(bucket: string, keys: readonly string[]): Promise<void> {
    const everything = (prefix: string) => this.#deletable(bucket, prefix);
    for await (const batch of deletableObjects(keys, everything, this.#reservedPrefix))
      await this.#deleteBatch(bucket, batch);
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

  /** Works for buckets without versioning too, where every object has the version `null`. */
  async *#versionIds(bucket: string, key: string): AsyncGenerator<string> {
    for await (const { Versions = [] } of this.#versionPages(bucket, key)) {
      for (const { Key, VersionId } of Versions) if (Key === key) yield VersionId ?? 'null';
      if (Versions.some(({ Key }) => Key !== key)) return;
    }
  }

  async #metadata(Bucket: string, Key: string, VersionId: string): Promise<Headers | undefined> {
    const version = VersionId === 'null' ? {} : { VersionId };
    try {
      const { Metadata = {} } = await this.#client.send(new HeadObjectCommand({ Bucket, Key, ...version }));
      return Object.fromEntries(
        Object.entries(Metadata).map(([name, value]) => [`x-amz-meta-${name}`, value]),
      );
    } catch (error) {
      if (isMissing(error) || (error as Error).name === 'NotFound') return undefined;
      throw error;
    }
  }
}
