import type { ObjectName } from '../../../src/objects/format/metadata.ts';
import { seededBytes } from './seeded.ts';
import { multipart, olderTransitKey, type Part, type StoredObject, single } from './stored-objects.ts';

export const bucket = 'reports';
export const at = (key: string): ObjectName => ({ bucket, key });
export const text = (label: string, length: number): Buffer => seededBytes(`plaintext ${label}`, length);

/** What a reader has to make of an object. */
export interface Vector {
  readonly about: string;
  /** The object to be read. */
  readonly read: ObjectName;
  /** All that the store holds; the first is not always the one to be read. */
  readonly objects: readonly StoredObject[];
  /** Where manifests are, if not beside the objects. */
  readonly stateBucket?: string;
  readonly expect: Expectation;
}

export type Expectation =
  /** `checksum`: what the kept one opens to, or `record-forged` for who opens it. */
  /** `md5`: the one that the writer named. */
  | { readonly plaintext: Buffer; readonly checksum?: string; readonly md5?: string }
  /** No svc metadata: as it is stored, or refused as `unencrypted` by a reader that takes encrypted objects only. */
  | { readonly unencrypted: Buffer }
  | { readonly refused: string };

export type Vectors = Readonly<Record<string, () => Vector>>;

const of = (object: StoredObject, plaintext: Buffer, about: string): Vector => ({
  about,
  read: { bucket: object.bucket, key: object.key },
  objects: [object],
  expect: { plaintext },
});

export const parts = (...sizes: number[]): Part[] =>
  sizes.map((size, index) => ({ n: index + 1, plaintext: text(`part ${index + 1}`, size) }));
export const joined = (all: readonly Part[]): Buffer => Buffer.concat(all.map(({ plaintext }) => plaintext));

const oddKeys: Readonly<Record<string, string>> = {
  quotes: 'odd/"quoted" \\ back\\slash/',
  controls: 'odd/tab\tline\nbell\u0007unit\u001fdel\u007f.txt',
  unicode: 'ödd/Zürich/日本/😀/e\u0301/\u2028\u2029/\ufeff',
  reserved: "w/ä +&%?=é//x/%2F;:@,$<>'`{}|^~[]#!*()",
  long: `long/${'n'.repeat(1019)}`,
};

const sizes: Readonly<Record<string, number>> = {
  'single-empty': 0,
  'single-1-byte': 1,
  'single-15-bytes': 15,
  'single-16-bytes': 16,
  'single-17-bytes': 17,
  'single-64-kib': 65_536,
};

const singles: Vectors = {
  ...Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [
      name,
      () =>
        of(
          single(at(`${name}.bin`), text(name, size)),
          text(name, size),
          `One body, ${size} bytes of plaintext.`,
        ),
    ]),
  ),
  'single-unbound': () =>
    of(
      single(at('unbound.bin'), text('unbound', 100), { binding: 'none' }),
      text('unbound', 100),
      'No binding header: the key is wrapped without associated data, as the specification alone has it.',
    ),
  'single-bucket-key': () =>
    of(
      single(at('bucket-key.bin'), text('bucket-key', 100), { binding: 'bucket-key' }),
      text('bucket-key', 100),
      'The key is bound to the bucket as well.',
    ),
  'single-older-key-version': () =>
    of(
      single(at('older.bin'), text('older', 100), { key: olderTransitKey }),
      text('older', 100),
      'Wrapped before the transit key was rotated.',
    ),
  'single-other-metadata': () => {
    const object = single(at('other-metadata.txt'), text('other', 100));
    const metadata = {
      'svc-owner': 'billing',
      'svc-not-yet-known': '1.x',
      colour: 'blue',
      ...object.metadata,
    };
    return of(
      { ...object, metadata },
      text('other', 100),
      "The caller's own metadata, and two headers whose names begin with svc- that mean nothing to a reader.",
    );
  },
  ...Object.fromEntries(
    Object.entries(oddKeys).map(([name, key]) => [
      `single-key-${name}`,
      () =>
        of(single(at(key), text(key, 40)), text(key, 40), 'A key that JSON texts and paths have to escape.'),
    ]),
  ),
};

const folders: Vectors = {
  folder: () =>
    of(
      single(at('folder/'), text('', 0)),
      text('', 0),
      'An empty object whose key ends in a slash: no body, its seal in the metadata.',
    ),
  'folder-unbound': () =>
    of(
      single(at('unbound-folder/'), text('', 0), { binding: 'none' }),
      text('', 0),
      'The same without binding.',
    ),
  'folder-with-body': () =>
    of(
      emptyInBody('older-folder/'),
      text('', 0),
      'The same as the specification alone has it: the 28 bytes are the body. A reader goes by the headers and never by the key.',
    ),
  'folder-with-content': () =>
    of(
      single(at('content/'), text('content', 5)),
      text('content', 5),
      'A key that ends in a slash, and a plaintext that is not empty.',
    ),
};

function emptyInBody(key: string): StoredObject {
  const { metadata, ...rest } = single(at(key), text('', 0));
  const { 'svc-empty-seal': seal = '', ...headers } = metadata;
  return { ...rest, metadata: headers, body: Buffer.from(seal, 'base64') };
}

const inline = (
  about: string,
  key: string,
  all: readonly Part[],
  binding: 'none' | 'key' | 'bucket-key' = 'key',
) => of(multipart(at(key), all, { binding }).inline, joined(all), about);

function pointer(
  about: string,
  key: string,
  all: readonly Part[],
  binding: 'none' | 'key' | 'bucket-key' = 'key',
): Vector {
  const written = multipart(at(key), all, { binding });
  return { ...of(written.pointer, joined(all), about), objects: [written.manifest, written.pointer] };
}

const multiparts: Vectors = {
  'inline-3-parts': () => inline('The part list in the header.', 'inline-3.bin', parts(300, 300, 77)),
  'inline-1-part': () => inline('An upload of one part.', 'inline-1.bin', parts(50)),
  'inline-unbound': () => inline('The same without binding.', 'inline-unbound.bin', parts(40, 41), 'none'),
  'inline-bucket-key': () =>
    inline('Bound to bucket and key.', 'inline-bucket-key.bin', parts(40, 41), 'bucket-key'),
  'inline-gaps': () => {
    const all = parts(20, 30, 40).map((part, index) => ({ ...part, n: [2, 5, 10_000][index] as number }));
    return inline(
      'Part numbers have gaps; the order of the numbers is that of the body.',
      'inline-gaps.bin',
      all,
    );
  },
  'inline-empty-part': () =>
    inline('The last part is empty: nonce and tag, nothing between.', 'inline-empty-part.bin', parts(64, 0)),
  'inline-only-empty': () => inline('An upload of one empty part.', 'inline-only-empty.bin', parts(0)),
  'inline-mixed-key-versions': () => {
    const [first, second] = parts(33, 34) as [Part, Part];
    const all = [{ ...first, key: olderTransitKey }, second];
    return inline(
      'The transit key was rotated during the upload: the header has the version of the seal key.',
      'inline-mixed.bin',
      all,
    );
  },
  'pointer-3-parts': () => pointer('The part list in a manifest.', 'pointer-3.bin', parts(300, 300, 77)),
  'pointer-25-parts': () =>
    pointer(
      'More parts than a header has room for.',
      'pointer-25.bin',
      parts(...Array.from({ length: 25 }, (_, n) => n * 3)),
    ),
  'pointer-unbound': () => pointer('The same without binding.', 'pointer-unbound.bin', parts(40, 41), 'none'),
  'pointer-bucket-key': () =>
    pointer('Bound to bucket and key.', 'pointer-bucket-key.bin', parts(40, 41), 'bucket-key'),
  'pointer-odd-key': () =>
    pointer('Both names inside the manifest are JSON strings.', oddKeys.controls as string, parts(40, 41)),
  'pointer-gaps': () => {
    const all = parts(20, 30).map((part, index) => ({ ...part, n: [7, 9_999][index] as number }));
    return pointer('Part numbers have gaps.', 'pointer-gaps.bin', all);
  },
  'pointer-state-bucket': () => {
    const vector = pointer(
      'Manifests are kept in a bucket of their own.',
      'pointer-state.bin',
      parts(40, 41),
    );
    const stateBucket = 'svc-state';
    const objects = vector.objects.map((object) =>
      object.key.startsWith('.svc/') ? { ...object, bucket: stateBucket } : object,
    );
    return { ...vector, objects, stateBucket };
  },
};

const unencrypted = (key: string, metadata: Readonly<Record<string, string>>, about: string): Vector => {
  const object = { ...at(key), metadata, body: text(key, 60) };
  return { about, read: at(key), objects: [object], expect: { unencrypted: object.body } };
};

const plain: Vectors = {
  unencrypted: () => unencrypted('plain.txt', {}, 'Written past the proxy: no svc metadata.'),
  'unencrypted-other-metadata': () =>
    unencrypted(
      'plain-owner.txt',
      { 'svc-owner': 'billing', colour: 'blue' },
      'Names that begin with svc- but are none of the headers that mean something.',
    ),
};

export const readable: Vectors = { ...singles, ...folders, ...multiparts, ...plain };
