import { checksums, refusedChecksums } from './checksums.ts';
import { copiedReadable, copiedRefused } from './copied-parts.ts';
import { namedMd5 } from './named-md5.ts';
import { type Expectation, readable, type Vector, type Vectors } from './readable.ts';
import { recovery, recoveryKeyFile } from './recoverable.ts';
import { refusedLists } from './refused-lists.ts';
import { refusedManifests } from './refused-manifests.ts';
import { refusedObjects } from './refused-objects.ts';
import { rewrappedReadable, rewrappedRefused } from './rewrapped.ts';
import { seeded } from './seeded.ts';
import { segmentedReadable, segmentedRefused } from './segmented.ts';
import { segmentedListsReadable, segmentedListsRefused } from './segmented-lists.ts';
import { exportedKey } from './stored-objects.ts';

/** A vector as its file holds it; bodies and plaintexts in base64. */
export interface VectorFile {
  readonly about: string;
  readonly bucket: string;
  readonly key: string;
  readonly stateBucket?: string;
  readonly expect:
    | { readonly plaintext: string; readonly checksum?: string; readonly md5?: string }
    | { readonly unencrypted: string }
    | { readonly refused: string };
  readonly objects: readonly {
    readonly bucket: string;
    readonly key: string;
    readonly metadata: Readonly<Record<string, string>>;
    readonly body: string;
  }[];
}

/** Every file below test/vectors/format with its text. */
export function vectorFiles(): readonly (readonly [name: string, text: string])[] {
  return [
    ['transit-key.json', asText(exportedKey())],
    ...folderOf('read', {
      ...readable,
      ...checksums,
      ...namedMd5,
      ...segmentedReadable,
      ...segmentedListsReadable,
      ...copiedReadable,
      ...rewrappedReadable,
    }),
    ...folderOf('refuse', {
      ...refusedObjects,
      ...refusedLists,
      ...refusedManifests,
      ...refusedChecksums,
      ...segmentedRefused,
      ...segmentedListsRefused,
      ...copiedRefused,
      ...rewrappedRefused,
    }),
    ['recovery-key.txt', recoveryKeyFile()],
    ...folderOf('recovery', recovery),
  ];
}

const folderOf = (folder: string, vectors: Vectors) =>
  Object.entries(vectors).map(
    ([name, make]) => [`${folder}/${name}.json`, asText(fileOf(seeded(name, make)))] as const,
  );

function fileOf({ about, read, objects, stateBucket, expect }: Vector): VectorFile {
  return {
    about,
    ...read,
    ...(stateBucket !== undefined && { stateBucket }),
    expect: expectationOf(expect),
    objects: objects.map(({ bucket, key, metadata, body }) => ({
      ...{ bucket, key, metadata },
      body: body.toString('base64'),
    })),
  };
}

function expectationOf(expect: Expectation): VectorFile['expect'] {
  if ('plaintext' in expect) return { ...expect, plaintext: expect.plaintext.toString('base64') };
  if ('unencrypted' in expect) return { unencrypted: expect.unencrypted.toString('base64') };
  return expect;
}

const asText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
