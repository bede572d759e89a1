import {
  type Headers,
  type ObjectName,
  readEnvelope,
  type WrappedKeys,
} from '../../../objects/format/metadata.ts';
import { manifestKey, parseManifest, uploadPrefix } from '../../../objects/format/records.ts';
import { parseRewrapRecord, recordId, rewrapRecordKey } from '../../../objects/format/rewrap-record.ts';
import { readUploadRecord, type UploadRecord } from '../../../objects/multipart/upload-record.ts';
import { defaultCredentials } from '../../../objects/upstream/credentials.ts';
import { storeClient } from '../../../objects/upstream/s3-client.ts';
import { storeOf, trustedAuthorities } from '../../../objects/upstream/store-settings.ts';
import { certificateErrorCode, exitStatus, SvcError } from '../../../runtime/errors.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import { resolveSettings, type Sources } from '../../../runtime/settings/resolve.ts';
import { type GcStore, type ListedObject, SdkGcStore } from './gc-store.ts';
import { type GcSettings, gcSettings } from './settings.ts';

export interface GcReport {
  readonly deleted: boolean;
  readonly garbage: readonly Garbage[];
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Finds helper objects that are no longer needed and, with `--delete`, deletes them.
 * @param onFound called for each find before it is deleted
 * @throws SvcError CONFIG_INVALID, GC_STORE_FAILED
 */
export async function collectGarbage(
  sources: Sources & { readonly env: Env },
  onFound: (garbage: Garbage) => void,
): Promise<GcReport> {
  const settings = resolveSettings(gcSettings, sources);
  const store = await openGcStore(settings, sources.env);
  const garbage: Garbage[] = [];
  try {
    for await (const found of findGarbage(store, { ...settings, now: Date.now() })) {
      onFound(found);
      if (settings.delete) await store.delete(found.bucket, found.keys);
      garbage.push(found);
    }
  } catch (cause) {
    throw storeFailure(cause, settings, garbage.length);
  }
  return { deleted: settings.delete, garbage };
}

async function openGcStore(settings: GcSettings, env: Env): Promise<SdkGcStore> {
  const log = await createLogger({ component: 'proxy-gc', level: 'error' });
  const client = storeClient({
    address: storeOf(settings),
    credentials: defaultCredentials(env, log),
    ca: trustedAuthorities(env),
  });
  return new SdkGcStore(client, settings.reservedPrefix);
}

function storeFailure(cause: unknown, settings: GcSettings, count: number): SvcError {
  const certificate = certificateErrorCode(cause);
  const name = certificate ?? (cause instanceof Error ? cause.name : 'unknown');
  const { host } = storeOf(settings).upstream;
  const done = settings.delete ? `${count} objects were deleted before` : 'nothing was deleted';
  return new SvcError(
    'GC_STORE_FAILED',
    `The object store ${host} refused or could not be reached (${name}); ${done}`,
    {
      nextStep:
        certificate === undefined
          ? 'Check the endpoint and that the credentials may list buckets, uploads, versions and objects; then run it again.'
          : 'Set AWS_CA_BUNDLE to the CA that issued its certificate, and use a host name of the certificate in --upstream.',
      exitStatus: certificate === undefined ? exitStatus.unavailable : exitStatus.config,
      cause,
    },
  );
}

/**
 * Finds garbage without deleting anything. Open uploads are listed before the records, so an upload created in between
 * is too young to look abandoned.
 */
export async function* findGarbage(store: GcStore, options: GcOptions): AsyncIterable<Garbage> {
  const served = new Set(options.buckets ?? (await store.buckets()));
  if (options.stateBucket !== undefined) served.delete(options.stateBucket);
  const scope: GcScope = { ...options, served, servesAll: options.buckets === undefined };
  const open = await openUploadsOf(store, [...served], options.reservedPrefix);
  const places = options.stateBucket === undefined ? [...served] : [options.stateBucket];
  for (const place of places) {
    yield* findRecords(store, place, scope, open);
    yield* findManifests(store, place, scope, open);
    yield* findRewraps(store, place, scope, open);
  }
}

/** Records of uploads that the store no longer lists. */
export async function* findRecords(
  store: GcStore,
  place: string,
  scope: GcScope,
  open: OpenUploads,
): AsyncIterable<Garbage> {
  for await (const group of groups(store, place, `${scope.reservedPrefix}uploads/`)) {
    const modified = Math.max(...group.objects.map((object) => object.modified));
    if (scope.now - modified < scope.minAge || open.prefixes.has(group.prefix)) continue;
    const record = await createRecord(store, place, group);
    if (!isServed(scope, record)) continue;
    const keys = group.objects.map((object) => object.key);
    yield { kind: 'upload-records', bucket: place, keys, object: record, reason: reasonFor(group), modified };
  }
}

interface Group {
  readonly prefix: string;
  readonly objects: ListedObject[];
}

/** Listings are in key order, so records of one upload are adjacent. */
async function* groups(store: GcStore, place: string, root: string): AsyncIterable<Group> {
  let group: Group | undefined;
  for await (const page of store.list(place, root))
    for (const object of page) {
      const prefix = object.key.slice(0, object.key.indexOf('/', root.length) + 1);
      if (prefix.length <= root.length) continue;
      if (group?.prefix !== prefix) {
        if (group !== undefined) yield group;
        group = { prefix, objects: [] };
      }
      group.objects.push(object);
    }
  if (group !== undefined) yield group;
}

async function createRecord(
  store: GcStore,
  place: string,
  { prefix, objects }: Group,
): Promise<UploadRecord | undefined> {
  const key = `${prefix}create`;
  if (!objects.some((object) => object.key === key)) return undefined;
  const text = await store.read(place, key);
  try {
    return text === undefined ? undefined : readUploadRecord(text);
  } catch {
    return undefined;
  }
}

/** In a shared state bucket, records of an unknown bucket may be in use unless all buckets are examined. */
const isServed = (scope: GcScope, record: UploadRecord | undefined): boolean =>
  scope.stateBucket === undefined ||
  scope.servesAll ||
  (record !== undefined && scope.served.has(record.bucket));

const reasonFor = ({ prefix, objects }: Group) =>
  objects.some((object) => object.key === `${prefix}done`)
    ? 'upload was completed'
    : 'upload no longer exists';

/**
 * Keys that XML 1.0 can represent, so that every store can list them; not all stores know `encoding-type`. For other
 * keys neither versions nor open uploads would be found, so their helper objects are never taken for garbage.
 */
const listable = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** Helper objects that belong to a stored object, one each. */
interface HelperKind {
  readonly kind: Garbage['kind'];
  readonly folder: string;
  /** @throws EnvelopeError for a malformed helper object */
  read(
    text: string,
    reservedPrefix: string,
    key: string,
  ): ObjectName & { readonly isOwn: boolean; readonly id: string };
  /** Whether an object with these keys needs the helper object of this id. */
  names(keys: WrappedKeys, id: string): boolean;
}

const manifests: HelperKind = {
  kind: 'manifest',
  folder: 'manifests/',
  read(text, reservedPrefix, at) {
    const { bucket, key, list } = parseManifest(text);
    const id = list.manifest;
    return { bucket, key, id, isOwn: manifestKey(reservedPrefix, { bucket, key }, id) === at };
  },
  names: (keys, id) => keys.form === 'pointer' && keys.manifest === id,
};

const rewraps: HelperKind = {
  kind: 'rewrapped-keys',
  folder: 'rewraps/',
  read(text, reservedPrefix, at) {
    const { bucket, key } = parseRewrapRecord(text);
    const id = at.slice(at.lastIndexOf('/') + 1);
    return { bucket, key, id, isOwn: rewrapRecordKey(reservedPrefix, { bucket, key }, id) === at };
  },
  names(keys, id) {
    if (keys.form === 'single') return recordId({ kind: 'object' }, keys.dek) === id;
    return (keys.form === 'inline' ? keys.list.manifest : keys.manifest) === id;
  },
};

/** Manifests that no version of their object names, in any examined bucket. */
export const findManifests = (
  store: GcStore,
  place: string,
  scope: GcScope,
  open: OpenUploads,
): AsyncIterable<Garbage> => findUnnamed(manifests, store, place, scope, open);

/** Records of rewrapped keys whose versions no longer exist or have the new keys in their headers. */
export const findRewraps = (
  store: GcStore,
  place: string,
  scope: GcScope,
  open: OpenUploads,
): AsyncIterable<Garbage> => findUnnamed(rewraps, store, place, scope, open);

async function* findUnnamed(
  helpers: HelperKind,
  store: GcStore,
  place: string,
  scope: GcScope,
  open: OpenUploads,
): AsyncIterable<Garbage> {
  const known = new Map<string, boolean>();
  for await (const page of store.list(place, `${scope.reservedPrefix}${helpers.folder}`))
    for (const object of page) {
      if (scope.now - object.modified < scope.minAge) continue;
      const helper = await readOwn(helpers, store, place, scope, object);
      if (helper === undefined || open.hasObject(helper.bucket, helper.key)) continue;
      const { bucket, key } = helper;
      if (!listable.test(key)) continue;
      const gone = !scope.served.has(bucket);
      if (gone && !(await isGone(store, scope, known, bucket))) continue;
      if (await isNamed(helpers, store, scope, helper)) continue;
      yield {
        kind: helpers.kind,
        bucket: place,
        keys: [object.key],
        object: { bucket, key },
        reason: gone ? 'its bucket no longer exists' : 'no object names it',
        modified: object.modified,
      };
    }
}

/**
 * A state bucket may hold manifests of deleted buckets; if only some buckets are examined, nothing is known of the
 * others.
 */
async function isGone(
  store: GcStore,
  { stateBucket, servesAll }: GcScope,
  known: Map<string, boolean>,
  bucket: string,
): Promise<boolean> {
  if (stateBucket === undefined || !servesAll || bucket === stateBucket) return false;
  const gone = known.get(bucket) ?? !(await store.exists(bucket));
  known.set(bucket, gone);
  return gone;
}

/** The object that a helper object belongs to; undefined if it is malformed or not at the place of its own key. */
async function readOwn(
  helpers: HelperKind,
  store: GcStore,
  place: string,
  { reservedPrefix }: GcScope,
  { key }: ListedObject,
): Promise<(ObjectName & { readonly id: string }) | undefined> {
  const text = await store.read(place, key);
  if (text === undefined) return undefined;
  try {
    const { isOwn, ...helper } = helpers.read(text, reservedPrefix, key);
    return isOwn ? helper : undefined;
  } catch {
    return undefined;
  }
}

async function isNamed(
  helpers: HelperKind,
  store: GcStore,
  { served }: GcScope,
  { key, id }: ObjectName & { readonly id: string },
): Promise<boolean> {
  for (const bucket of served)
    for await (const headers of store.versions(bucket, key)) if (names(helpers, headers, id)) return true;
  return false;
}

/** Unreadable metadata count as naming the helper object: when in doubt, nothing is deleted. */
function names(helpers: HelperKind, headers: Headers, id: string): boolean {
  try {
    const keys = readEnvelope(headers)?.keys;
    return keys !== undefined && helpers.names(keys, id);
  } catch {
    return true;
  }
}

export interface GcOptions {
  /** Buckets named by the caller; undefined: every bucket of the store. */
  readonly buckets: readonly string[] | undefined;
  readonly reservedPrefix: string;
  readonly stateBucket: string | undefined;
  /** Younger objects are left alone; milliseconds. */
  readonly minAge: number;
  readonly now: number;
}

/** Helper objects of one upload or object that are no longer needed. */
export interface Garbage {
  readonly kind: 'upload-records' | 'manifest' | 'rewrapped-keys';
  readonly bucket: string;
  readonly keys: readonly string[];
  /** The object it belonged to, if known. */
  readonly object?: { readonly bucket: string; readonly key: string } | undefined;
  readonly reason: string;
  readonly modified: number;
}

/** Options and scope of a search. */
export interface GcScope extends GcOptions {
  readonly served: ReadonlySet<string>;
  /** False if buckets were named: a shared state bucket may then hold records of other buckets. */
  readonly servesAll: boolean;
}

/** Uploads that the store still lists. */
export interface OpenUploads {
  /** Prefixes of their records. */
  readonly prefixes: ReadonlySet<string>;
  hasObject(bucket: string, key: string): boolean;
}

export async function openUploadsOf(
  store: GcStore,
  buckets: readonly string[],
  reservedPrefix: string,
): Promise<OpenUploads> {
  const prefixes = new Set<string>();
  const objects = new Set<string>();
  for (const bucket of buckets)
    for await (const page of store.openUploads(bucket))
      for (const { key, uploadId } of page) {
        prefixes.add(uploadPrefix(reservedPrefix, uploadId));
        objects.add(objectId(bucket, key));
      }
  return { prefixes, hasObject: (bucket, key) => objects.has(objectId(bucket, key)) };
}

const objectId = (bucket: string, key: string) => `${bucket}/${key}`;
