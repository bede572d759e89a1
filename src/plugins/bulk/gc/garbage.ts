import type { ObjectName } from '../../../objects/format/metadata.ts';
import { uploadPrefix } from '../../../objects/format/records.ts';
import { readUploadRecord, type UploadRecord } from '../../../objects/multipart/upload-record.ts';
import type { CommandStore, ListedObject } from '../engine/command-store.ts';
import { workOn } from '../engine/run.ts';
import { type HelperKind, manifests, names, rewraps } from './helper-kinds.ts';

type GcStore = Pick<CommandStore, 'buckets' | 'exists' | 'list' | 'openUploads' | 'read' | 'versions'>;

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

/** What a search knows before it looks at helper objects. */
interface GcScope extends GcOptions {
  readonly store: GcStore;
  readonly served: ReadonlySet<string>;
  /** False if buckets were named: a shared state bucket may then hold records of other buckets. */
  readonly servesAll: boolean;
  readonly open: OpenUploads;
  /** Buckets of which the store was asked whether they exist. */
  readonly known: Map<string, boolean>;
}

/**
 * Finds garbage without deleting anything. Open uploads are listed before the records, so an upload created in between
 * is too young to look abandoned.
 */
export async function findGarbage(
  store: GcStore,
  options: GcOptions,
  signal: AbortSignal,
  onFound: (garbage: Garbage) => Promise<void> | void,
): Promise<void> {
  const { reservedPrefix, stateBucket } = options;
  const served = new Set(options.buckets ?? (await store.buckets()));
  if (stateBucket !== undefined) served.delete(stateBucket);
  const open = await openUploadsOf(store, [...served], reservedPrefix);
  const servesAll = options.buckets === undefined;
  const scope: GcScope = { ...options, store, served, servesAll, open, known: new Map() };
  const examine = <E>(
    pages: AsyncIterable<readonly E[]>,
    judge: (entry: E) => Promise<Garbage | undefined>,
  ): Promise<void> =>
    workOn({ pages, concurrency: 1, signal }, () => ({
      async each(entry) {
        const garbage = await judge(entry);
        if (garbage !== undefined) await onFound(garbage);
      },
    }));
  for (const place of stateBucket === undefined ? served : [stateBucket]) {
    await examine(uploadsIn(scope, place), (upload) => abandoned(scope, place, upload));
    for (const helpers of [manifests, rewraps])
      await examine(store.list(place, `${reservedPrefix}${helpers.folder}`), (object) =>
        unnamed(helpers, scope, place, object),
      );
  }
}

/** Records of an upload that the store no longer lists. */
async function abandoned(scope: GcScope, place: string, upload: Group): Promise<Garbage | undefined> {
  const { prefix, objects } = upload;
  const modified = Math.max(...objects.map((object) => object.modified));
  if (scope.now - modified < scope.minAge || scope.open.prefixes.has(prefix)) return undefined;
  const record = await createRecord(scope.store, place, upload);
  if (!isServed(scope, record)) return undefined;
  const keys = objects.map((object) => object.key);
  return { kind: 'upload-records', bucket: place, keys, object: record, reason: reasonFor(upload), modified };
}

/** The records of one upload. */
interface Group {
  readonly prefix: string;
  readonly objects: ListedObject[];
}

/** Listings are in key order, so records of one upload are adjacent. */
async function* uploadsIn(
  { store, reservedPrefix }: GcScope,
  place: string,
): AsyncGenerator<readonly Group[]> {
  const root = `${reservedPrefix}uploads/`;
  let group: Group | undefined;
  for await (const page of store.list(place, root))
    for (const object of page) {
      const prefix = object.key.slice(0, object.key.indexOf('/', root.length) + 1);
      if (prefix.length <= root.length) continue;
      if (group?.prefix !== prefix) {
        if (group !== undefined) yield [group];
        group = { prefix, objects: [] };
      }
      group.objects.push(object);
    }
  if (group !== undefined) yield [group];
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

/**
 * A manifest that no version of its object names, in any examined bucket; a record of rewrapped keys whose versions no
 * longer exist or have the new keys in their headers.
 */
async function unnamed(
  helpers: HelperKind,
  scope: GcScope,
  place: string,
  { key: at, modified }: ListedObject,
): Promise<Garbage | undefined> {
  if (scope.now - modified < scope.minAge) return undefined;
  const helper = await readOwn(helpers, scope, place, at);
  if (helper === undefined || scope.open.hasObject(helper.bucket, helper.key)) return undefined;
  const { bucket, key } = helper;
  if (!listable.test(key)) return undefined;
  const gone = !scope.served.has(bucket);
  if (gone && !(await isGone(scope, bucket))) return undefined;
  if (await isNamed(helpers, scope, helper)) return undefined;
  const reason = gone ? 'its bucket no longer exists' : 'no object names it';
  return { kind: helpers.kind, bucket: place, keys: [at], object: { bucket, key }, reason, modified };
}

/**
 * A state bucket may hold manifests of deleted buckets; if only some buckets are examined, nothing is known of the
 * others.
 */
async function isGone({ store, stateBucket, servesAll, known }: GcScope, bucket: string): Promise<boolean> {
  if (stateBucket === undefined || !servesAll || bucket === stateBucket) return false;
  const gone = known.get(bucket) ?? !(await store.exists(bucket));
  known.set(bucket, gone);
  return gone;
}

/** The object that a helper object belongs to; undefined if it is malformed or not at the place of its own key. */
async function readOwn(
  helpers: HelperKind,
  { store, reservedPrefix }: GcScope,
  place: string,
  key: string,
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
  { store, served }: GcScope,
  { key, id }: ObjectName & { readonly id: string },
): Promise<boolean> {
  for (const bucket of served)
    for await (const headers of store.versions(bucket, key)) if (names(helpers, headers, id)) return true;
  return false;
}

/** Uploads that the store still lists. */
interface OpenUploads {
  /** Prefixes of their records. */
  readonly prefixes: ReadonlySet<string>;
  hasObject(bucket: string, key: string): boolean;
}

async function openUploadsOf(
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
