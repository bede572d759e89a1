import { uploadPrefix } from '../../../core/envelope/records.ts';
import type { GcStore } from './gc-store.ts';

/** Uploads that the store still lists. */
export interface OpenUploads {
  /** By the prefix of their records. */
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
