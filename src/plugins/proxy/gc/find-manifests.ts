import { type Headers, readEnvelope } from '../../../core/envelope/metadata.ts';
import { manifestKey } from '../../../core/envelope/records.ts';
import { type ManifestOf, parseManifest } from '../multipart/manifest-text.ts';
import type { Garbage, GcScope } from './garbage.ts';
import type { GcStore, ListedObject } from './gc-store.ts';
import type { OpenUploads } from './open-uploads.ts';

/** Manifests that no version of their object, in any bucket looked at, names. */
export async function* findManifests(
  store: GcStore,
  place: string,
  scope: GcScope,
  open: OpenUploads,
): AsyncIterable<Garbage> {
  for await (const page of store.list(place, `${scope.reservedPrefix}manifests/`))
    for (const object of page) {
      if (scope.now - object.modified < scope.minAge) continue;
      const manifest = await readOwn(store, place, scope, object);
      if (manifest === undefined || open.hasObject(manifest.bucket, manifest.key)) continue;
      if (await isNamed(store, scope, manifest)) continue;
      const { bucket, key } = manifest;
      yield {
        kind: 'manifest',
        bucket: place,
        keys: [object.key],
        object: { bucket, key },
        reason: 'no object names it',
        modified: object.modified,
      };
    }
}

/** The manifest, when it is whole, lies where it says that it belongs, and is of a bucket looked at. */
async function readOwn(
  store: GcStore,
  place: string,
  { reservedPrefix, served }: GcScope,
  { key }: ListedObject,
): Promise<ManifestOf | undefined> {
  const text = await store.read(place, key);
  if (text === undefined) return undefined;
  try {
    const manifest = parseManifest(text);
    const belongs =
      served.has(manifest.bucket) && manifestKey(reservedPrefix, manifest, manifest.list.manifest) === key;
    return belongs ? manifest : undefined;
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
