import { EnvelopeError } from '../../../core/envelope/cipher.ts';
import { isEnvelopeHeader } from '../../../core/envelope/metadata.ts';
import { S3Error } from '../../../core/s3/error.ts';
import { descriptionHeaders, unquote } from '../../../core/s3/headers.ts';
import { retry } from '../../../runtime/lifecycle/wait.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { defaultCredentials } from '../../../runtime/object-store/credentials.ts';
import { storeOf, trustedAuthorities } from '../../../runtime/object-store/settings.ts';
import { createVaultClient } from '../../../runtime/vault/client.ts';
import { vaultConfig } from '../../../runtime/vault/settings.ts';
import { createTransit } from '../../../runtime/vault/transit.ts';
import { createDataKeys, type DataKeys } from '../data-keys.ts';
import type { ListUser } from '../multipart/lists-in-use.ts';
import { createManifests } from '../multipart/manifest-store.ts';
import { SpoolSpace } from '../read/body/spool.ts';
import { createObjectReader } from '../read/create-object-reader.ts';
import { digestHeaders } from '../read/small-object.ts';
import {
  apparentSize,
  ObjectChanged,
  type ObjectLayout,
  type ObjectReader,
  type StoredObject,
} from '../read/stored-object.ts';
import { readRecoveryKeys, recoveryDataKeys } from '../recovery-keys.ts';
import { createRewrapRecords, type RewrapRecords, withRewraps } from '../rewrapped-keys.ts';
import { createBucketFacts } from '../state/bucket-facts.ts';
import { DelayedRemovals, UpstreamStateStore } from '../state/state-store.ts';
import { createUpstream } from '../upstream/s3-upstream.ts';
import { refusal, type Upstream } from '../upstream/upstream.ts';
import { listObjects, type StoredEntry } from './list-objects.ts';
import type { DecryptSettings, RecoverySettings } from './settings.ts';

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
  /**
   * Its own metadata, with the MD5 that its writer named, and what describes its content.
   * @throws EnvelopeError `record-forged`
   */
  headers(): Promise<Record<string, string>>;
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
  settings: ReadingSettings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Source {
  const reading = openReading(settings, env, log);
  const { reader, pages, close } = reading;
  return {
    pages: (prefix, signal) => pages(bucket, prefix, signal),
    look: (key, signal) => again(() => look(reader, bucket, key, signal), signal),
    read: (key, take, signal) =>
      again(() => during(signal, async (user) => take(await open(reading, bucket, key, user))), signal),
    close,
  };
}

/** What reads objects past the proxy, of any bucket, and the keys that open them. */
export interface OpenReading extends Reading {
  readonly keys: DataKeys;
  /** Pages of objects, in the order of the bytes of their keys; helper objects are left out. */
  pages(bucket: string, prefix: string, signal: AbortSignal): AsyncIterable<readonly StoredEntry[]>;
  close(): Promise<void>;
}

/** @throws SvcError where certificates, tokens or recovery keys cannot be had */
export function openReading(
  settings: ReadingSettings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): OpenReading {
  const credentials = defaultCredentials(env, log);
  const ca = trustedAuthorities(env);
  const { reservedPrefix, stateBucket, unencryptedReads } = settings;
  const config = {
    ...storeOf(settings),
    ...sending,
    ...reading,
    reservedPrefix,
    stateBucket,
    unencryptedReads,
  };
  const upstream = createUpstream(config, log, { credentials, ca });
  const state = new UpstreamStateStore({ config, upstream, buckets: createBucketFacts(upstream) });
  const rewraps = createRewrapRecords(state, reservedPrefix);
  const { keys, close: closeKeys } = openKeys(settings, rewraps, log);
  const manifests = createManifests({
    state,
    keys,
    reservedPrefix,
    removals: new DelayedRemovals(state, log),
  });
  const metrics = { request() {}, refused() {}, bytes() {} };
  const spoolSpace = new SpoolSpace(0);
  const reader = createObjectReader({ config, keys, upstream, manifests, metrics, spoolSpace });
  return {
    ...{ upstream, reader, keys },
    async *pages(bucket, prefix, signal) {
      const attempt = <T>(request: () => Promise<T>) => again(request, signal);
      for await (const page of listObjects(upstream, attempt, { bucket, prefix }, signal))
        yield page.filter(({ key }) => !key.startsWith(reservedPrefix));
    },
    async close() {
      reader.close();
      state.close();
      await closeKeys();
    },
  };
}

/** Of recovery keys and their store no more is needed. */
type ReadingSettings =
  | DecryptSettings
  | Pick<
      RecoverySettings,
      | 'upstream'
      | 'region'
      | 'defaultRegion'
      | 'reservedPrefix'
      | 'stateBucket'
      | 'unencryptedReads'
      | 'requireBound'
      | 'recoveryKey'
    >;

interface KeySource {
  readonly keys: DataKeys;
  close(): Promise<void>;
}

/** Recovery keys where they are given, else the key server. */
function openKeys(settings: ReadingSettings, rewraps: RewrapRecords, log: Logger): KeySource {
  const { requireBound, recoveryKey } = settings;
  if (recoveryKey !== undefined || !('vaultAddr' in settings)) {
    const identities = readRecoveryKeys(recoveryKey ?? '');
    return { keys: recoveryDataKeys(identities, { requireBound }), close: async () => undefined };
  }
  const vault = createVaultClient({ config: vaultConfig(settings), log, onState: () => undefined });
  const transit = createTransit(vault, {
    mount: settings.transitMount,
    keyName: settings.transitKey,
    joinCalls: true,
  });
  void vault.start();
  const keys = withRewraps(createDataKeys(transit, { binding: 'key', requireBound }), rewraps);
  return { keys, close: () => vault.close() };
}

/** An object that was replaced meanwhile, or whose part list has just moved into its headers, and a store that stumbled. */
function mayHelp(error: unknown): boolean {
  if (error instanceof EnvelopeError) return error.reason === 'manifest-missing';
  return error instanceof ObjectChanged || (error instanceof S3Error && error.status >= 500);
}

export const again = <T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> =>
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

/** What `read` uses is given back when it ends. */
export async function during<T>(signal: AbortSignal, read: (user: ListUser) => Promise<T>): Promise<T> {
  const ends: (() => void)[] = [];
  try {
    return await read({ signal, atEnd: (release) => void ends.push(release) });
  } finally {
    for (const release of ends) release();
  }
}

export async function open(
  { upstream, reader }: Reading,
  bucket: string,
  key: string,
  user: ListUser,
): Promise<OpenedObject> {
  const name = { bucket, key };
  const response = await upstream.send({ method: 'GET', ...name, signal: user.signal });
  if (response.status >= 300) throw await refusal(response);
  user.atEnd(() => response.body.close());
  if (response.status !== 200)
    throw new EnvelopeError('wrong-size', `the store answered ${response.status} to a request for the whole`);
  const object = reader.describe({ name, versionId: undefined, access: {} }, response.headers);
  const layout = await reader.layout(object, user);
  return {
    encrypted: object.envelope !== undefined,
    etag: unquote(object.etag),
    size: layout.size,
    chunks: reader.decrypt(object, layout, response, user),
    headers: () => ownHeaders(reader, object, layout, user.signal),
  };
}

async function ownHeaders(
  reader: ObjectReader,
  object: StoredObject,
  layout: ObjectLayout,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(object.headers))
    if (typeof value === 'string' && isOwn(name)) own[name] = value;
  if (object.envelope?.md5 === undefined) return own;
  return { ...own, ...digestHeaders(await reader.digests(object, layout, signal), { checksum: false }) };
}

/** Others' `x-amz-meta-svc-…` are metadata like any. */
const isOwn = (name: string): boolean =>
  descriptionHeaders.includes(name) ||
  name === 'x-amz-website-redirect-location' ||
  (name.startsWith('x-amz-meta-') && !isEnvelopeHeader(name));
