import { createHash } from 'node:crypto';
import type { ObjectName } from '../../../objects/format/metadata.ts';
import { S3Error } from '../../../objects/s3/error.ts';
import { maxUserMetadata, unquote, userMetadataSize } from '../../../objects/s3/headers.ts';
import { refuseLongKey } from '../../../objects/s3/request.ts';
import { defaultCredentials } from '../../../objects/upstream/credentials.ts';
import { createUpstream } from '../../../objects/upstream/s3-upstream.ts';
import { trustedAuthorities } from '../../../objects/upstream/store-settings.ts';
import { refusalOf, type Upstream } from '../../../objects/upstream/upstream.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { again, type StoredEntry } from '../engine/list-objects.ts';
import type { OpenedObject } from '../engine/open-object.ts';
import type { Place } from './journal.ts';
import { sendPlaintext } from './send-plaintext.ts';
import { type DecryptSettings, type RecoverySettings, targetStoreOf } from './settings.ts';
import { NameTaken, type TakenIn, type Target, TargetRefused } from './target.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * A target bucket in the same store or another. Completed work is recognized from the target objects: each carries a
 * mark of its source object and that object's state.
 * @throws SvcError DECRYPT_USAGE for the source bucket; SvcError for certificates that cannot be read
 */
export function intoBucket(
  { bucket, prefix }: Pick<TargetPlace, 'bucket' | 'prefix'>,
  place: Place,
  settings: RecoverySettings | DecryptSettings,
  env: Env,
  log: Logger,
): Target {
  const store = targetStoreOf(settings);
  if (store.upstream.href === place.store && bucket === place.bucket) throw samePlace(bucket);
  const { toAccessKeyId, toSecretAccessKey, toProfile } = settings;
  const own = { AWS_ACCESS_KEY_ID: toAccessKeyId, AWS_SECRET_ACCESS_KEY: toSecretAccessKey };
  const credentials = defaultCredentials(toAccessKeyId === undefined ? env : own, log, toProfile);
  const config = { ...store, upstreamSigning: 'auto', upstreamChecksum: settings.toChecksum } as const;
  const upstream = createUpstream(config, log, { credentials, ca: trustedAuthorities(env) });
  const to = { host: store.upstream.host, bucket, prefix };
  return new BucketTarget(upstream, to, place, settings.toChecksum === 'crc32');
}

const samePlace = (bucket: string) =>
  new SvcError('DECRYPT_USAGE', `Bucket ${bucket} is the source`, {
    nextStep: 'Name another bucket with --to: plaintext must not mix with encrypted objects.',
    exitStatus: exitStatus.config,
  });

interface TargetPlace {
  readonly host: string;
  readonly bucket: string;
  readonly prefix: string;
}

const markHeader = 'x-amz-meta-decrypted-by-svc';

class BucketTarget implements Target {
  readonly #upstream: Upstream;
  readonly #to: TargetPlace;
  readonly #place: Place;
  readonly #checksums: boolean;
  #isElsewhere = false;

  constructor(upstream: Upstream, to: TargetPlace, place: Place, checksums: boolean) {
    this.#upstream = upstream;
    this.#to = to;
    this.#place = place;
    this.#checksums = checksums;
  }

  async page(objects: readonly StoredEntry[], signal: AbortSignal) {
    const [first] = objects;
    if (!this.#isElsewhere && first !== undefined) await this.#refuseSource(first, signal);
    this.#isElsewhere ||= first !== undefined;
    return {
      has: async (object: StoredEntry, asked: AbortSignal) => {
        const name = this.#nameOf(object.key);
        const found = await again(() => this.#look(name, asked), asked);
        return found?.mark === this.#markOf(object, object.etag).join('.');
      },
      take: (object: StoredEntry, opened: OpenedObject, asked: AbortSignal) =>
        this.#take(object, opened, asked),
      keepEarlier: () => undefined,
    };
  }

  close(): void {
    this.#upstream.close();
  }

  /** A store can have two addresses, and a bucket two names; identical objects give the source away. */
  async #refuseSource({ key, etag, stored, modified }: StoredEntry, signal: AbortSignal): Promise<void> {
    const look = again(() => this.#look({ bucket: this.#to.bucket, key }, signal), signal);
    const found = await look.catch((error: unknown) => {
      // a store that cannot hold this key is not the source store
      if (error instanceof TargetRefused && error.status < 500 && !error.endsRun) return undefined;
      throw error;
    });
    const seconds = (text: string) => Math.floor(Date.parse(text) / 1000);
    const same = found?.etag === etag && found.size === stored;
    if (same && seconds(found.modified) === seconds(modified)) throw samePlace(this.#to.bucket);
  }

  async #take(object: StoredEntry, opened: OpenedObject, signal: AbortSignal): Promise<TakenIn> {
    const name = this.#nameOf(object.key);
    const [of, state] = this.#markOf(object, opened.etag);
    const kept = await opened.headers();
    const marked = { ...kept, [markHeader]: `${of}.${state}` };
    const hasRoom = userMetadataSize(marked) <= maxUserMetadata;
    const found = await this.#look(name, signal);
    // without room for a mark, an object of ours looks like anyone's, so it is overwritten
    const isOurs = found?.mark?.startsWith(`${of}.`) ?? !hasRoom;
    if (found !== undefined && !isOurs) throw new NameTaken(`s3://${name.bucket}/${name.key}`);
    let ofSource = false;
    const chunks = watched(opened.chunks, () => {
      ofSource = true;
    });
    const sending = { upstream: this.#upstream, checksums: this.#checksums, signal };
    const headers = hasRoom ? marked : kept;
    try {
      await sendPlaintext(sending, { name, headers, size: opened.size, chunks });
    } catch (error) {
      throw ofSource ? error : this.#refused(error);
    }
    return { bytes: opened.size };
  }

  #refused(error: unknown): unknown {
    return error instanceof S3Error ? new TargetRefused(error, this.#to) : error;
  }

  #nameOf(key: string): ObjectName {
    const { prefix } = this.#place;
    const name = this.#to.prefix + key.slice(prefix.lastIndexOf('/') + 1);
    refuseLongKey(name);
    return { bucket: this.#to.bucket, key: name };
  }

  /** Digests of the source object's identity and of its current state. */
  #markOf({ key, stored, modified }: StoredEntry, etag: string): [of: string, state: string] {
    const of = [this.#place.bucket, key];
    return [digest(of), digest([...of, etag, stored, modified])];
  }

  async #look(name: ObjectName, signal: AbortSignal): Promise<Found | undefined> {
    try {
      const { status, headers, body } = await this.#upstream.send({ method: 'HEAD', ...name, signal });
      body.resume();
      if (status === 404) return undefined;
      if (status !== 200) throw refusalOf(status, '');
      const mark = headers[markHeader];
      return {
        etag: unquote(headers.etag ?? ''),
        size: Number(headers['content-length']),
        modified: String(headers['last-modified']),
        mark: typeof mark === 'string' ? mark : undefined,
      };
    } catch (error) {
      throw this.#refused(error);
    }
  }
}

interface Found {
  readonly etag: string;
  readonly size: number;
  readonly modified: string;
  readonly mark: string | undefined;
}

const digest = (of: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(of)).digest('base64url').slice(0, digestLength);
/** In base64url characters: 132 bits. */
const digestLength = 22;

/** Reports failures of the source, which must not be blamed on the target store. */
async function* watched(chunks: AsyncIterable<Buffer>, onFailure: () => void): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    onFailure();
    throw error;
  }
}
