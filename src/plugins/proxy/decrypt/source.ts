import { ListObjectsV2Command, type ListObjectsV2CommandOutput, type S3Client } from '@aws-sdk/client-s3';
import { EnvelopeError } from '../../../core/envelope/cipher.ts';
import { S3Error } from '../../../core/s3/error.ts';
import { unquote } from '../../../core/s3/headers.ts';
import { retry } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { defaultCredentials } from '../../../runtime/object-store/credentials.ts';
import { storeClient } from '../../../runtime/object-store/s3-client.ts';
import { storeOf, trustedAuthorities } from '../../../runtime/object-store/settings.ts';
import { createVaultClient } from '../../../runtime/vault/client.ts';
import { vaultConfig } from '../../../runtime/vault/settings.ts';
import { createTransit } from '../../../runtime/vault/transit.ts';
import { createDataKeys } from '../data-keys.ts';
import { createManifests } from '../multipart/manifest-store.ts';
import { SpoolSpace } from '../read/body/spool-file.ts';
import { createObjectReader } from '../read/create-object-reader.ts';
import { apparentSize, ObjectChanged, type ObjectReader } from '../read/stored-object.ts';
import { createBucketFacts } from '../state/bucket-facts.ts';
import { DelayedRemovals } from '../state/state-store.ts';
import { UpstreamStateStore } from '../state/upstream-state-store.ts';
import { createUpstream } from '../upstream/s3-upstream.ts';
import { refusal, type Upstream } from '../upstream/upstream.ts';
import type { DecryptSettings } from './settings.ts';

export interface StoredEntry {
  readonly key: string;
  /** The store's, unquoted. */
  readonly etag: string;
  /** Stored bytes. */
  readonly stored: number;
  readonly modified: string;
}

/** What metadata and length say of an object whose body was not read. */
export interface LookedAt {
  readonly encrypted: boolean;
  /** Of the plaintext in bytes, as far as the headers tell it. */
  readonly size: number | undefined;
}

/** Plaintext that is under way. It is authentic only once `chunks` have ended without error. */
export interface OpenedObject {
  readonly encrypted: boolean;
  readonly etag: string;
  readonly size: number;
  readonly chunks: AsyncIterable<Buffer>;
}

/** Objects of one bucket past the proxy, and the keys that open them. */
export interface Source {
  /** Pages of objects, in the order of the bytes of their keys; helper objects are left out. */
  pages(prefix: string, signal: AbortSignal): AsyncIterable<readonly StoredEntry[]>;
  look(key: string, signal: AbortSignal): Promise<LookedAt>;
  /** @param take is called again, with the object from its beginning, where that may help */
  read<T>(key: string, take: (object: OpenedObject) => Promise<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

/**
 * Bodies are decrypted while they arrive: what is written before its tag was verified has no name yet. So no memory is
 * needed to hold them, and no disk.
 */
const reading = { strict: false, verifyBuffer: 0, verifyBudget: 0, spoolDir: '' } as const;
const sending = { upstreamSigning: 'auto', upstreamChecksum: 'crc32' } as const;

/** @throws SvcError where certificates or tokens cannot be had */
export function openSource(
  bucket: string,
  settings: DecryptSettings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Source {
  const credentials = defaultCredentials(env, log);
  const ca = trustedAuthorities(env);
  const { reservedPrefix, stateBucket, unencryptedReads, requireBound } = settings;
  const config = {
    ...storeOf(settings),
    ...sending,
    ...reading,
    reservedPrefix,
    stateBucket,
    unencryptedReads,
  };
  const vault = createVaultClient({ config: vaultConfig(settings), log, onState: () => undefined });
  const transit = createTransit(vault, {
    mount: settings.transitMount,
    keyName: settings.transitKey,
    joinCalls: true,
  });
  const keys = createDataKeys(transit, { binding: 'key', requireBound });
  const upstream = createUpstream(config, log, { credentials, ca });
  const state = new UpstreamStateStore({ config, upstream, buckets: createBucketFacts(upstream) });
  const manifests = createManifests({
    state,
    keys,
    reservedPrefix,
    removals: new DelayedRemovals(state, log),
  });
  const metrics = { request() {}, refused() {}, bytes() {} };
  const spoolSpace = new SpoolSpace(0);
  const reader = createObjectReader({ config, keys, upstream, manifests, metrics, spoolSpace });
  const client = storeClient({ address: storeOf(settings), credentials, ca });
  void vault.start();
  return {
    pages: (prefix, signal) => pages(client, bucket, { prefix, reservedPrefix }, signal),
    look: (key, signal) => again(() => look(reader, bucket, key, signal), signal),
    read: (key, take, signal) =>
      again(async () => take(await open({ upstream, reader }, bucket, key, signal)), signal),
    async close() {
      reader.close();
      state.close();
      client.destroy();
      await vault.close();
    },
  };
}

/** An object that was replaced meanwhile, or whose part list has just moved into its headers, and a store that stumbled. */
function mayHelp(error: unknown): boolean {
  if (error instanceof EnvelopeError) return error.reason === 'manifest-missing';
  return error instanceof ObjectChanged || (error instanceof S3Error && error.status >= 500);
}

const again = <T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  retry(attempt, { initialMs: 200, maxMs: 2_000, maxAttempts: 3, isRetryable: mayHelp, signal });

async function look(
  reader: ObjectReader,
  bucket: string,
  key: string,
  signal: AbortSignal,
): Promise<LookedAt> {
  const object = await reader.stat({ bucket, key }, { signal });
  return { encrypted: object.envelope !== undefined, size: apparentSize(object) };
}

interface Reading {
  readonly upstream: Upstream;
  readonly reader: ObjectReader;
}

async function open(
  { upstream, reader }: Reading,
  bucket: string,
  key: string,
  signal: AbortSignal,
): Promise<OpenedObject> {
  const name = { bucket, key };
  const response = await upstream.send({ method: 'GET', ...name, signal });
  if (response.status >= 300) throw await refusal(response);
  try {
    if (response.status !== 200)
      throw new EnvelopeError(
        'wrong-size',
        `the store answered ${response.status} to a request for the whole`,
      );
    const object = reader.describe({ name, versionId: undefined, access: {} }, response.headers);
    const layout = await reader.layout(object, signal);
    return {
      encrypted: object.envelope !== undefined,
      etag: unquote(object.etag),
      size: layout.size,
      chunks: reader.decrypt(object, layout, response, { signal }),
    };
  } catch (error) {
    response.body.destroy();
    throw error;
  }
}

async function* pages(
  client: S3Client,
  Bucket: string,
  { prefix, reservedPrefix }: { prefix: string; reservedPrefix: string },
  abortSignal: AbortSignal,
): AsyncGenerator<readonly StoredEntry[]> {
  let token: string | undefined;
  do {
    const from = token === undefined ? {} : { ContinuationToken: token };
    const command = new ListObjectsV2Command({ Bucket, Prefix: prefix, EncodingType: 'url', ...from });
    const page: ListObjectsV2CommandOutput = await client.send(command, { abortSignal });
    yield listed(page).filter(({ key }) => !key.startsWith(reservedPrefix));
    const next = page.IsTruncated ? page.NextContinuationToken : undefined;
    if (page.IsTruncated && (next === undefined || next === token))
      throw Object.assign(new Error('the listing does not go on'), { name: 'BrokenListing' });
    token = next;
  } while (token !== undefined);
}

function listed({ Contents = [], EncodingType }: ListObjectsV2CommandOutput): readonly StoredEntry[] {
  const decoded = EncodingType === 'url' ? fromUrl : (key: string) => key;
  return Contents.flatMap(({ Key, Size = 0, ETag = '', LastModified }) =>
    Key === undefined
      ? []
      : [
          {
            key: decoded(Key),
            etag: unquote(ETag),
            stored: Size,
            modified: LastModified?.toISOString() ?? '',
          },
        ],
  );
}

/** As a form is encoded: a blank is a plus. What is not encoded as it says stays as it is. */
function fromUrl(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
