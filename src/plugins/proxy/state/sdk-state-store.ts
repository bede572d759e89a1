import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { EnvelopeError } from '../../../core/envelope/error.ts';
import { deletableObjects, deleteObjects } from './delete-for-good.ts';
import { stateClient } from './state-client.ts';
import { isMissing, stateFailure } from './state-failure.ts';
import type { StateParts } from './state-parts.ts';
import type { StateObject, StateStore } from './state-store.ts';

/** Helper objects through `@aws-sdk/client-s3`. */
export class SdkStateStore implements StateStore {
  readonly #parts: StateParts;
  readonly #client: S3Client;

  constructor(parts: StateParts) {
    this.#parts = parts;
    this.#client = stateClient(parts);
  }

  async put(bucket: string, key: string, body: string): Promise<void> {
    const command = new PutObjectCommand({ Bucket: this.#home(bucket), Key: key, Body: body });
    await this.#client.send(command).catch(stateFailure);
  }

  async get(bucket: string, key: string, limit: number): Promise<string | undefined> {
    const command = new GetObjectCommand({ Bucket: this.#home(bucket), Key: key });
    try {
      const { Body } = await this.#client.send(command);
      return await readText(Body as AsyncIterable<Uint8Array> | undefined, limit);
    } catch (error) {
      if (isMissing(error)) return undefined;
      return stateFailure(error);
    }
  }

  async *list(bucket: string, prefix: string): AsyncGenerator<readonly StateObject[]> {
    let token: string | undefined;
    do {
      const page = { Bucket: this.#home(bucket), Prefix: prefix, ContinuationToken: token };
      const answer = await this.#client.send(new ListObjectsV2Command(page)).catch(stateFailure);
      yield (answer.Contents ?? []).map(({ Key = '', LastModified }) => ({
        key: Key,
        lastModified: LastModified,
      }));
      token = answer.IsTruncated ? answer.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async delete(bucket: string, keys: readonly string[]): Promise<void> {
    const home = this.#home(bucket);
    const versions = (await this.#parts.buckets.keepsVersions(home)) === 'yes';
    const batches = deletableObjects(this.#client, home, keys, versions, this.#parts.config.reservedPrefix);
    try {
      for await (const batch of batches) await deleteObjects(this.#client, home, batch);
    } catch (error) {
      stateFailure(error);
    }
  }

  close(): void {
    this.#client.destroy();
  }

  #home(bucket: string): string {
    return this.#parts.config.stateBucket ?? bucket;
  }
}

async function readText(body: AsyncIterable<Uint8Array> | undefined, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > limit)
      throw new EnvelopeError('malformed-metadata', `a helper object is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString();
}
