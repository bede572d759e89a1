import { findManifests } from './find-manifests.ts';
import { findRecords } from './find-records.ts';
import type { Garbage, GcOptions, GcScope } from './garbage.ts';
import type { GcStore } from './gc-store.ts';
import { openUploadsOf } from './open-uploads.ts';

/**
 * Finds garbage without touching it. Open uploads are listed before the records, so that an upload
 * begun in between is too young to be taken for an abandoned one.
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
  }
}
