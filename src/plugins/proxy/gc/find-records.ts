import { readUploadRecord, type UploadRecord } from '../multipart/upload-record.ts';
import type { Garbage, GcScope } from './garbage.ts';
import type { GcStore, ListedObject } from './gc-store.ts';
import type { OpenUploads } from './open-uploads.ts';

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

/** Listings are in key order, so the records of one upload stand together. */
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

/** In a shared state bucket, records whose bucket is unknown are somebody's as long as not all buckets are looked at. */
const isServed = (scope: GcScope, record: UploadRecord | undefined): boolean =>
  scope.stateBucket === undefined ||
  scope.servesAll ||
  (record !== undefined && scope.served.has(record.bucket));

const reasonFor = ({ prefix, objects }: Group) =>
  objects.some((object) => object.key === `${prefix}done`)
    ? 'upload was completed'
    : 'upload no longer exists';
