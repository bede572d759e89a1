import { type Headers, readEnvelope } from '../../../core/envelope/metadata.ts';
import { manifestKey } from '../../../core/envelope/records.ts';
import { type ManifestOf, parseManifest } from '../multipart/manifest-text.ts';
import type { Garbage, GcScope } from './garbage.ts';
import type { GcStore, ListedObject } from './gc-store.ts';
import type { OpenUploads } from './open-uploads.ts';

/**
 * Keys that stores can list as they are, because XML 1.0 can hold them; not all stores know the parameter `encoding-type`.
 * Of any other key neither versions nor open uploads are found, so that nothing is known to be garbage.
 */
const listable = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** Manifests that no version of their object, in any bucket looked at, names. */
export async function* findManifests(
  store: GcStore,
  place: string,
  scope: GcScope,
  open: OpenUploads,
): AsyncIterable<Garbage> {
  const known = new Map<string, boolean>();
  for await (const page of store.list(place, `${scope.reservedPrefix}manifests/`))
    for (const object of page) {
      if (scope.now - object.modified < scope.minAge) continue;
      const manifest = await readOwn(store, place, scope, object);
      if (manifest === undefined || open.hasObject(manifest.bucket, manifest.key)) continue;
      const { bucket, key } = manifest;
      if (!listable.test(key)) continue;
      const gone = !scope.served.has(bucket);
      if (gone && !(await isGone(store, scope, known, bucket))) continue;
      if (await isNamed(store, scope, manifest)) continue;
      yield {
        kind: 'manifest',
        bucket: place,
        keys: [object.key],
        object: { bucket, key },
        reason: gone ? 'its bucket no longer exists' : 'no object names it',
        modified: object.modified,
      };
    }
}

/** Buckets leave manifests in a state bucket; where only some are looked at, nothing is known of the others. */
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

/** The manifest, when it is whole and lies where it says that it belongs. */
async function readOwn(
  store: GcStore,
  place: string,
  { reservedPrefix }: GcScope,
  { key }: ListedObject,
): Promise<ManifestOf | undefined> {
  const text = await store.read(place, key);
  if (text === undefined) return undefined;
  try {
    const manifest = parseManifest(text);
    return manifestKey(reservedPrefix, manifest, manifest.list.manifest) === key ? manifest : undefined;
  } catch {
    return undefined;
  }
}

async function isNamed(store: GcStore, { served }: GcScope, { key, list }: ManifestOf): Promise<boolean> {
  for (const bucket of served)
    for await (const headers of store.versions(bucket, key)) if (names(headers, list.manifest)) return true;
  return false;
}

/** Metadata that cannot be read is taken for naming it: what is not understood is not deleted. */
function names(headers: Headers, id: string): boolean {
  try {
    const keys = readEnvelope(headers)?.keys;
    return keys?.form === 'pointer' && keys.manifest === id;
  } catch {
    return true;
  }
}
