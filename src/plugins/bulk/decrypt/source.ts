import { EnvelopeError } from '../../../objects/format/cipher.ts';
import { isEnvelopeHeader } from '../../../objects/format/metadata.ts';
import { createDataKeys, type DataKeys } from '../../../objects/keys/data-keys.ts';
import { readRecoveryKeys, recoveryDataKeys } from '../../../objects/keys/recovery-keys.ts';
import type { ListUser } from '../../../objects/multipart/lists-in-use.ts';
import { digestHeaders } from '../../../objects/read/small-object.ts';
import {
  apparentSize,
  type ObjectLayout,
  type ObjectReader,
  type StoredObject,
} from '../../../objects/read/stored-object.ts';
import { descriptionHeaders, unquote } from '../../../objects/s3/headers.ts';
import { refusal, type Upstream } from '../../../objects/upstream/upstream.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { again, listObjects, type StoredEntry } from '../list-objects.ts';
import { openBulkObjects, openKeyServer } from '../open-objects.ts';
import type { DecryptSettings, RecoverySettings } from './settings.ts';

/** What an object's headers tell without reading its body. */
export interface LookedAt {
  readonly encrypted: boolean;
  /** Plaintext size in bytes, as far as headers tell. */
  readonly size: number | undefined;
}

/** Plaintext in transit; authentic only once `chunks` has ended without error. */
export interface OpenedObject {
  readonly encrypted: boolean;
  readonly etag: string;
  readonly size: number;
  readonly chunks: AsyncIterable<Buffer>;
  /**
   * The object's metadata, including an MD5 that its writer named, and content headers.
   * @throws EnvelopeError `record-forged`
   */
  headers(): Promise<Record<string, string>>;
}

/** Objects of one bucket, read directly from the store, and the keys that open them. */
export interface Source {
  /** Pages of objects in byte order of their keys, without helper objects. */
  pages(prefix: string, signal: AbortSignal): AsyncIterable<readonly StoredEntry[]>;
  look(key: string, signal: AbortSignal): Promise<LookedAt>;
  /** @param take called again from the object's beginning if a retry may help */
  read<T>(key: string, take: (object: OpenedObject) => Promise<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

/** @throws SvcError for certificates or tokens that cannot be read */
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

/** Reads objects of any bucket directly from the store, with the keys that open them. */
export interface OpenReading extends Reading {
  readonly keys: DataKeys;
  /** Pages of objects in byte order of their keys, without helper objects. */
  pages(bucket: string, prefix: string, signal: AbortSignal): AsyncIterable<readonly StoredEntry[]>;
  close(): Promise<void>;
}

/** @throws SvcError for certificates, tokens or recovery keys that cannot be read */
export function openReading(
  settings: ReadingSettings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): OpenReading {
  const { requireBound, unencryptedReads, reservedPrefix } = settings;
  const { keys, close } = openKeys(settings, log);
  const objects = openBulkObjects(settings, keys, env, log, { requireBound, unencryptedReads });
  return {
    ...objects,
    pages: (bucket, prefix, signal) =>
      listObjects(objects.upstream, { bucket, prefix, versioned: false, reservedPrefix }, signal),
    async close() {
      objects.close();
      await close();
    },
  };
}

/** With recovery keys, the settings of their store suffice. */
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

/** Recovery keys if given, else the key server. */
function openKeys(settings: ReadingSettings, log: Logger): KeySource {
  const { requireBound, recoveryKey } = settings;
  if (recoveryKey !== undefined || !('vaultAddr' in settings)) {
    const identities = readRecoveryKeys(recoveryKey ?? '');
    return { keys: recoveryDataKeys(identities, { requireBound }), close: async () => undefined };
  }
  const keyServer = openKeyServer('decrypt', settings, log);
  const transit = keyServer.transit(settings.transitMount, settings.transitKey);
  return { keys: createDataKeys(transit, { binding: 'key', requireBound }), close: keyServer.close };
}

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

/** Releases the resources of `read` when it ends. */
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

/** `x-amz-meta-svc-…` headers that are not of the envelope are ordinary metadata. */
const isOwn = (name: string): boolean =>
  descriptionHeaders.includes(name) ||
  name === 'x-amz-website-redirect-location' ||
  (name.startsWith('x-amz-meta-') && !isEnvelopeHeader(name));
