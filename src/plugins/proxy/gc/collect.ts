import { findManifests } from './find-manifests.ts';
import { findRecords } from './find-records.ts';
import type { GcStore } from './gc-store.ts';
import { openUploadsOf } from './open-uploads.ts';

export interface GcOptions {
  /** Buckets that the caller named; undefined: every bucket of the store. */
  readonly buckets: readonly string[] | undefined;
  readonly reservedPrefix: string;
  readonly stateBucket: string | undefined;
  /** Nothing younger is touched; milliseconds. */
  readonly minAge: number;
  readonly now: number;
}

/** Helper objects that nothing needs any more, of one upload or one manifest. */
export interface Garbage {
  readonly kind: 'upload-records' | 'manifest';
  readonly bucket: string;
  readonly keys: readonly string[];
  /** What it belonged to, as far as that is known. */
  readonly object?: { readonly bucket: string; readonly key: string } | undefined;
  readonly reason: string;
  readonly modified: number;
}

/** What a search works on. */
export interface GcScope extends GcOptions {
  readonly served: ReadonlySet<string>;
  /** False when buckets were named: then records of others may lie in a shared state bucket. */
  readonly servesAll: boolean;
}

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
