import type { PartEntry } from '../../../src/objects/format/body-format.ts';
import type { PartList } from '../../../src/objects/format/manifest.ts';
import { at, parts, text, type Vector } from './readable.ts';
import { multipart, type StoredObject, single, type WriteOptions } from './stored-objects.ts';

export type Metadata = Readonly<Record<string, string | undefined>>;

export const refused = (
  about: string,
  reason: string,
  object: StoredObject,
  ...helpers: StoredObject[]
): Vector => ({
  about,
  read: { bucket: object.bucket, key: object.key },
  objects: [...helpers, object],
  expect: { refused: reason },
});

export const flipped = (body: Buffer, at: number, bit = 1): Buffer => {
  const copy = Buffer.from(body);
  const place = at < 0 ? copy.length + at : at;
  copy[place] = (copy[place] as number) ^ bit;
  return copy;
};

/** The object with other metadata; undefined takes a header away. */
export function withMetadata(object: StoredObject, change: Metadata): StoredObject {
  const entries = Object.entries({ ...object.metadata, ...change });
  const metadata = Object.fromEntries(
    entries.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return { ...object, metadata };
}

export const flippedKey = (wrapped: string): string => {
  const [scheme, version, payload = ''] = wrapped.split(':');
  return [scheme, version, flipped(Buffer.from(payload, 'base64'), 20).toString('base64')].join(':');
};

export const one = (options?: WriteOptions) => single(at('one.bin'), text('one', 100), options);
export const other = (options?: WriteOptions) => single(at('other.bin'), text('two', 100), options);
export const dekOf = (object: StoredObject) => object.metadata['svc-wrapped-dek'] as string;
export const folder = (key = 'folder/') => single(at(key), text('', 0));
export const sealOf = (object: StoredObject) =>
  Buffer.from(object.metadata['svc-empty-seal'] as string, 'base64');
export const three = (options?: WriteOptions) => multipart(at('three.bin'), parts(300, 300, 300), options);
export const twin = (options?: WriteOptions) => multipart(at('three.bin'), parts(300, 300, 300), options);

export const entry = (list: PartList, index: number) => list.parts[index] as PartEntry;
export const withEntry = (list: PartList, index: number, change: Partial<PartEntry>): PartList => ({
  ...list,
  parts: list.parts.map((part, place) => (place === index ? { ...part, ...change } : part)),
});
