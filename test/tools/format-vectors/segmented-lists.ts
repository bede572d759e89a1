import type { SegmentedPart } from '../../../src/objects/format/body-format.ts';
import type { SegmentedPartList } from '../../../src/objects/format/manifest.ts';
import type { BindingMode } from '../../../src/objects/format/metadata.ts';
import { dekOf, flipped, refused, withMetadata } from './edits.ts';
import { at, joined, parts, text, type Vector, type Vectors } from './readable.ts';
import { segmented, segmentedListed, segmentedMultipart } from './segmented-objects.ts';
import { manifestObject, multipart, type StoredObject } from './stored-objects.ts';

const place = at('two-list.bin');
const sizes = [300, 300, 77] as const;
const plaintext = () => joined(parts(...sizes));
const written = () => segmentedMultipart(place, parts(...sizes));
type Written = ReturnType<typeof written>;

const of = (about: string, object: StoredObject, body: Buffer, ...helpers: StoredObject[]): Vector => ({
  about,
  read: { bucket: object.bucket, key: object.key },
  objects: [...helpers, object],
  expect: { plaintext: body },
});

const pointed = (binding: BindingMode): Vector => {
  const name = at(`two-pointer-${binding}.bin`);
  const { pointer, manifest } = segmentedMultipart(name, parts(...sizes), { binding });
  return of(`A manifest, binding ${binding}.`, pointer, plaintext(), manifest);
};

/** The list with members in its entries that the format does not have. */
function withForeignMembers({ list, bodies }: Written): StoredObject {
  const { inline } = segmentedListed(place, list, bodies);
  const value = JSON.parse(dekOf(inline));
  const entries = value.parts.map((part: SegmentedPart) => ({ ...part, recovery: 7, dek: null, later: 1 }));
  const changed = JSON.stringify({ ...value, parts: entries, later: {} });
  return withMetadata(inline, { 'svc-wrapped-dek': changed });
}

export const segmentedListsReadable: Vectors = {
  'format-2-pointer-unbound': () => pointed('none'),
  'format-2-pointer-bucket-key': () => pointed('bucket-key'),
  'format-2-pointer-gaps': () => {
    const all = parts(20, 65_537, 40).map((part, index) => ({
      ...part,
      n: [3, 255, 10_000][index] as number,
    }));
    const { pointer, manifest } = segmentedMultipart(at('two-pointer-gaps.bin'), all);
    return of('Part numbers have gaps, the list is in a manifest.', pointer, joined(all), manifest);
  },
  'format-2-pointer-state-bucket': () => {
    const { pointer, manifest } = written();
    const elsewhere = { ...manifest, bucket: 'state' };
    const vector = of('The manifest is in the state bucket.', pointer, plaintext(), elsewhere);
    return { ...vector, stateBucket: 'state' };
  },
  'format-2-inline-only-empty': () => {
    const all = parts(0);
    const { inline } = segmentedMultipart(at('two-only-empty.bin'), all);
    return of('One part, which is empty: no body.', inline, joined(all));
  },
  'format-2-inline-foreign-members': () =>
    of('Members that the format does not have are passed over.', withForeignMembers(written()), plaintext()),
  'format-2-folder-with-content': () => {
    const content = text('folder content', 5);
    return of(
      'A key that ends in a slash, and a body.',
      segmented(at('two-folder-content/'), content),
      content,
    );
  },
};

const inManifest =
  (change: (text: string) => string) =>
  ({ manifest }: Written): StoredObject => ({
    ...manifest,
    body: Buffer.from(change(manifest.body.toString())),
  });

const withList = ({ list }: Written, change: (list: SegmentedPartList) => SegmentedPartList): StoredObject =>
  manifestObject(place, change(list));

const withPart = (
  list: SegmentedPartList,
  index: number,
  change: Partial<SegmentedPart>,
): SegmentedPartList => ({
  ...list,
  parts: list.parts.map((part, position) => (position === index ? { ...part, ...change } : part)),
});

type RefusedVector = readonly [
  about: string,
  reason: string,
  manifest: (it: Written) => StoredObject | undefined,
];

const manifests: Readonly<Record<string, RefusedVector>> = {
  missing: ['The manifest is not there.', 'manifest-missing', () => undefined],
  cut: ['The manifest ends early.', 'malformed-metadata', inManifest((it) => it.slice(0, -1))],
  'of-format-1': [
    'The list in the manifest is said to be of format 1.',
    'malformed-metadata',
    inManifest((it) => it.replace('"list":{"v":2,', '"list":{"v":1,')),
  ],
  'written-by-format-1': [
    'A list of format 1 with the id and the wrapped key of the pointer.',
    'malformed-metadata',
    ({ list: { manifest, seal } }) =>
      manifestObject(place, { ...multipart(place, parts(...sizes)).list, manifest, seal }),
  ],
  'of-other-object': [
    'The manifest of another object in this place.',
    'manifest-forged',
    ({ manifest: { key } }) => ({
      ...segmentedMultipart(at('two-other.bin'), parts(...sizes)).manifest,
      key,
    }),
  ],
  'of-other-upload': [
    'The manifest of another upload of the same object in this place.',
    'manifest-forged',
    ({ manifest: { key } }) => ({ ...written().manifest, key }),
  ],
  'mac-bit': [
    'One bit of the seal is changed.',
    'manifest-forged',
    (it) =>
      withList(it, (list) => ({
        ...list,
        mac: flipped(Buffer.from(list.mac, 'base64'), 0).toString('base64'),
      })),
  ],
  'other-number': [
    'A part has the next number.',
    'manifest-forged',
    (it) => withList(it, (list) => withPart(list, 2, { n: 4 })),
  ],
  'salt-of-other-upload': [
    'The salt of a part of another upload.',
    'manifest-forged',
    (it) => withList(it, (list) => withPart(list, 1, { salt: written().list.parts[1]?.salt as string })),
  ],
};

const lists: Readonly<Record<string, readonly [about: string, reason: string, () => StoredObject]>> = {
  'repeated-number': ['A part twice.', 'malformed-metadata', listWith((list) => withPart(list, 1, { n: 1 }))],
  'short-salt-of-part': [
    'A salt of 31 bytes.',
    'malformed-metadata',
    listWith((list) => withPart(list, 1, { salt: 'A'.repeat(42) })),
  ],
  'entry-of-format-1': [
    'An entry that has what one of format 1 has.',
    'malformed-metadata',
    () => {
      const { inline } = written();
      const [entry] = multipart(place, parts(300)).list.parts;
      const value = JSON.parse(dekOf(inline));
      const changed = JSON.stringify({ ...value, parts: [entry, ...value.parts.slice(1)] });
      return withMetadata(inline, { 'svc-wrapped-dek': changed });
    },
  ],
  'key-of-other-upload': [
    'The wrapped key of another upload: it is bound to that.',
    'key-refused',
    listWith((list) => ({ ...list, seal: written().list.seal })),
  ],
  'part-of-other-upload': [
    'The body of a part of another upload of the same object.',
    'authentication-failed',
    () => {
      const { list, bodies } = written();
      const [, foreign] = written().bodies as [Buffer, Buffer];
      return segmentedListed(place, list, [bodies[0] as Buffer, foreign, bodies[2] as Buffer]).inline;
    },
  ],
  'pointer-of-format-1': [
    'A pointer that is said to be of format 1.',
    'malformed-metadata',
    () => {
      const { pointer } = written();
      return withMetadata(pointer, { 'svc-wrapped-dek': dekOf(pointer).replace('{"v":2,', '{"v":1,') });
    },
  ],
  'empty-filled': [
    'An empty object, and the body of another.',
    'wrong-commitment',
    () => ({
      ...segmented(at('two-empty.bin'), text('', 0)),
      body: segmented(at('two-full.bin'), text('full', 1)).body,
    }),
  ],
  'folder-filled': [
    'A folder marker, and the body of another object.',
    'wrong-commitment',
    () => ({
      ...segmented(at('two-folder/'), text('', 0)),
      body: segmented(at('two-full.bin'), text('full', 1)).body,
    }),
  ],
};

function listWith(change: (list: SegmentedPartList) => SegmentedPartList) {
  return (): StoredObject => {
    const { list, bodies } = written();
    return segmentedListed(place, change(list), bodies).inline;
  };
}

function refusedManifest([about, reason, manifestOf]: RefusedVector): Vector {
  const it = written();
  const manifest = manifestOf(it);
  return refused(about, reason, it.pointer, ...(manifest === undefined ? [] : [manifest]));
}

export const segmentedListsRefused: Vectors = {
  ...Object.fromEntries(
    Object.entries(manifests).map(([name, refusal]) => [
      `format-2-manifest-${name}`,
      () => refusedManifest(refusal),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(lists).map(([name, [about, reason, make]]) => [
      `format-2-${name}`,
      () => refused(about, reason, make()),
    ]),
  ),
};
