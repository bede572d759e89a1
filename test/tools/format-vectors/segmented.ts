import type { BindingMode } from '../../../src/objects/format/metadata.ts';
import { fullChecksum } from './checksums.ts';
import { flipped, flippedKey, type Metadata, refused, withMetadata } from './edits.ts';
import { at, joined, parts, text, type Vector, type Vectors } from './readable.ts';
import { segmented, segmentedListed, segmentedMultipart } from './segmented-objects.ts';
import { olderTransitKey, type StoredObject, single } from './stored-objects.ts';

const segment = 65_536;
const stored = segment + 16;

const of = (object: StoredObject, plaintext: Buffer, about: string, ...helpers: StoredObject[]): Vector => ({
  about,
  read: { bucket: object.bucket, key: object.key },
  objects: [...helpers, object],
  expect: { plaintext },
});

const sizes: Readonly<Record<string, number>> = {
  empty: 0,
  '1-byte': 1,
  '1-segment-less-1': segment - 1,
  '1-segment': segment,
  '1-segment-and-1': segment + 1,
  '2-segments': 2 * segment,
};

const bound = (binding: BindingMode): Vector =>
  of(
    segmented(at(`two-${binding}.bin`), text('bound', 100), { binding }),
    text('bound', 100),
    'The binding text has the format also where it has no names.',
  );

const summed = text('summed', 100);
const checksum = () => fullChecksum('sha256', summed);
const told = (vector: Vector): Vector => ({
  ...vector,
  expect: { plaintext: summed, checksum: `sha256 FULL_OBJECT ${checksum().text}` },
});

export const segmentedReadable: Vectors = {
  ...Object.fromEntries(
    Object.entries(sizes).map(([label, size]) => [
      `format-2-${label}`,
      () =>
        of(
          segmented(at(`two-${label}.bin`), text(label, size)),
          text(label, size),
          `Format 2, ${size} bytes of plaintext.`,
        ),
    ]),
  ),
  'format-2-unbound': () => bound('none'),
  'format-2-bucket-key': () => bound('bucket-key'),
  'format-2-folder': () =>
    of(segmented(at('two-folder/'), text('', 0)), text('', 0), 'Empty, as every empty object of format 2.'),
  'format-2-older-key-version': () =>
    of(
      segmented(at('two-older.bin'), text('older', 9), { key: olderTransitKey }),
      text('older', 9),
      'Wrapped before the transit key was rotated.',
    ),
  'format-2-inline': () => {
    const all = parts(300, 300, 77);
    return of(
      segmentedMultipart(at('two-inline.bin'), all).inline,
      joined(all),
      'The part list in the header.',
    );
  },
  'format-2-inline-segments': () => {
    const all = parts(segment, segment + 1);
    return of(
      segmentedMultipart(at('two-segments.bin'), all).inline,
      joined(all),
      'Parts of one segment and of two.',
    );
  },
  'format-2-inline-gaps': () => {
    const all = parts(20, 30, 40).map((part, index) => ({ ...part, n: [2, 256, 10_000][index] as number }));
    return of(segmentedMultipart(at('two-gaps.bin'), all).inline, joined(all), 'Part numbers have gaps.');
  },
  'format-2-inline-empty-part': () => {
    const all = parts(64, 0);
    return of(
      segmentedMultipart(at('two-empty-part.bin'), all).inline,
      joined(all),
      'An empty part has no body.',
    );
  },
  'format-2-inline-unbound': () => {
    const all = parts(40, 41);
    const { inline } = segmentedMultipart(at('two-inline-unbound.bin'), all, { binding: 'none' });
    return of(inline, joined(all), 'The same without names in the binding text.');
  },
  'format-2-pointer': () => {
    const all = parts(300, 300, 77);
    const { pointer, manifest } = segmentedMultipart(at('two-pointer.bin'), all);
    return of(pointer, joined(all), 'The part list in a manifest.', manifest);
  },
  'format-2-checksum': () =>
    told(of(segmented(at('two-summed.bin'), summed, { checksum: checksum() }), summed, 'A kept checksum.')),
  'format-2-checksum-inline': () => {
    const all = [{ n: 1, plaintext: summed }];
    const { inline } = segmentedMultipart(at('two-summed-inline.bin'), all, { checksum: checksum() });
    return told(of(inline, summed, 'A kept checksum in the part list.'));
  },
};

const three = () => segmented(at('two-three.bin'), text('three', 2 * segment + 100));
const one = () => segmented(at('two-one.bin'), text('one', 100));
const twin = () => segmented(at('two-one.bin'), text('two', 100));

const withBody = (object: StoredObject, change: (body: Buffer) => Buffer): StoredObject => ({
  ...object,
  body: change(object.body),
});
const segmentsIn = (body: Buffer) =>
  Array.from({ length: Math.ceil(body.length / stored) }, (_, index) =>
    body.subarray(index * stored, (index + 1) * stored),
  );
const reordered =
  (...order: number[]) =>
  (body: Buffer) =>
    Buffer.concat(order.map((index) => segmentsIn(body)[index] as Buffer));

const bodies: Readonly<Record<string, readonly [about: string, reason: string, (body: Buffer) => Buffer]>> = {
  'cut-at-a-segment': ['Ends with the first segment.', 'wrong-commitment', reordered(0)],
  'cut-at-the-second': ['Ends with the second segment.', 'wrong-commitment', reordered(0, 1)],
  'cut-in-a-tag': ['No body has this length.', 'wrong-size', (body) => body.subarray(0, stored + 9)],
  'without-first': ['The first segment is missing.', 'wrong-commitment', reordered(1, 2)],
  'repeated-segment': ['A segment twice.', 'wrong-commitment', reordered(0, 1, 1, 2)],
  'swapped-segments': ['Two segments exchanged.', 'authentication-failed', reordered(1, 0, 2)],
  'replaced-segment': ['A segment in place of another.', 'authentication-failed', reordered(0, 0, 2)],
  emptied: ['No body.', 'wrong-commitment', () => Buffer.alloc(0)],
  extended: ['One byte more.', 'wrong-commitment', (body) => Buffer.concat([body, Buffer.from([0])])],
  'first-bit': ['A bit of the first segment.', 'authentication-failed', (body) => flipped(body, 0)],
  'first-tag': ['A bit of the first tag.', 'authentication-failed', (body) => flipped(body, stored - 1)],
  'last-tag': ['A bit of the last tag.', 'authentication-failed', (body) => flipped(body, -1)],
};

const derivationOf = (object: StoredObject) => (object.metadata['svc-derivation'] as string).split('.');

const metadata: Readonly<Record<string, readonly [about: string, reason: string, () => StoredObject]>> = {
  relabelled: [
    'Said to be of format 1.',
    'malformed-metadata',
    () => withMetadata(one(), { 'svc-algorithm': 'AES-256-GCM' }),
  ],
  'relabelled-whole': [
    'The same without the header of format 2.',
    'key-refused',
    () => withMetadata(one(), { 'svc-algorithm': 'AES-256-GCM', 'svc-derivation': undefined }),
  ],
  'format-1-relabelled': [
    'An object of format 1 that is said to be of format 2.',
    'key-refused',
    () => {
      const { metadata: headers } = one();
      const { 'svc-algorithm': algorithm, 'svc-derivation': derivation } = headers;
      const added: Metadata = { 'svc-algorithm': algorithm, 'svc-derivation': derivation };
      return withMetadata(single(at('one-as-two.bin'), text('one', 100)), added);
    },
  ],
  'format-1-relabelled-unbound': [
    'The same without binding.',
    'key-refused',
    () => {
      const { 'svc-algorithm': algorithm, 'svc-derivation': derivation } = one().metadata;
      const added: Metadata = { 'svc-algorithm': algorithm, 'svc-derivation': derivation };
      return withMetadata(single(at('one-as-two.bin'), text('one', 100), { binding: 'none' }), added);
    },
  ],
  'without-derivation': [
    'The header is missing.',
    'partial-metadata',
    () => withMetadata(one(), { 'svc-derivation': undefined }),
  ],
  'half-derivation': [
    'No commitment.',
    'malformed-metadata',
    () => withMetadata(one(), { 'svc-derivation': derivationOf(one())[0] }),
  ],
  'short-salt': [
    'A salt of 31 bytes.',
    'malformed-metadata',
    () => {
      const object = one();
      return withMetadata(object, { 'svc-derivation': `${'A'.repeat(42)}.${derivationOf(object)[1]}` });
    },
  ],
  'other-salt': [
    'The salt of another body.',
    'wrong-commitment',
    () => {
      const object = one();
      const derivation = `${derivationOf(twin())[0]}.${derivationOf(object)[1]}`;
      return withMetadata(object, { 'svc-derivation': derivation });
    },
  ],
  'other-commitment': [
    'The commitment of another body.',
    'wrong-commitment',
    () => {
      const object = one();
      const derivation = `${derivationOf(object)[0]}.${derivationOf(twin())[1]}`;
      return withMetadata(object, { 'svc-derivation': derivation });
    },
  ],
  'other-derivation': [
    'Salt and commitment of another body.',
    'wrong-commitment',
    () => withMetadata(one(), { 'svc-derivation': twin().metadata['svc-derivation'] }),
  ],
  'other-body': [
    'The body of another object, of the same length.',
    'authentication-failed',
    () => ({ ...one(), body: twin().body }),
  ],
  'other-key': [
    'A changed wrapped key.',
    'key-refused',
    () => {
      const object = one();
      return withMetadata(object, {
        'svc-wrapped-dek': flippedKey(object.metadata['svc-wrapped-dek'] as string),
      });
    },
  ],
  'other-name': ['Under another name.', 'key-refused', () => ({ ...one(), key: 'renamed.bin' })],
  'empty-seal': [
    'A header of format 1 alone.',
    'malformed-metadata',
    () => {
      const seal = single(at('folder/'), text('', 0)).metadata['svc-empty-seal'];
      return withMetadata(segmented(at('two-empty.bin'), text('', 0)), { 'svc-empty-seal': seal });
    },
  ],
  'unknown-algorithm': [
    'A format that is not known.',
    'malformed-metadata',
    () => withMetadata(one(), { 'svc-algorithm': 'AES-256-GCM-STREAM-1MiB' }),
  ],
};

const upload = () => segmentedMultipart(at('two-upload.bin'), parts(300, 300, segment + 3));
const listWith =
  (change: (written: ReturnType<typeof upload>) => ReturnType<typeof upload>['list']) => () => {
    const written = upload();
    return segmentedListed(at('two-upload.bin'), change(written), written.bodies).inline;
  };
const exchanged = <T>(values: readonly T[]): T[] => [values[1] as T, values[0] as T, ...values.slice(2)];

const lists: Readonly<Record<string, readonly [about: string, reason: string, () => StoredObject]>> = {
  'swapped-parts': [
    'The bodies of two parts exchanged.',
    'authentication-failed',
    () => {
      const { inline, bodies: all } = upload();
      return { ...inline, body: Buffer.concat(exchanged(all)) };
    },
  ],
  'swapped-salts': [
    'The salts of two parts exchanged.',
    'manifest-forged',
    listWith(({ list }) => {
      const salts = exchanged(list.parts.map(({ salt }) => salt));
      return { ...list, parts: list.parts.map((part, index) => ({ ...part, salt: salts[index] as string })) };
    }),
  ],
  'other-size': [
    'Sizes that have the same sum.',
    'manifest-forged',
    listWith(({ list }) => ({
      ...list,
      parts: list.parts.map((part, index) => ({ ...part, size: part.size + ([1, -1][index] ?? 0) })),
    })),
  ],
  'list-of-format-1': [
    'The list is of another format than the object.',
    'malformed-metadata',
    () => {
      const { inline } = upload();
      const dek = (inline.metadata['svc-wrapped-dek'] as string).replace('"v":2', '"v":1');
      return withMetadata(inline, { 'svc-wrapped-dek': dek });
    },
  ],
  'dropped-part': [
    'A part is missing, in the list and in the body.',
    'manifest-forged',
    () => {
      const { list, bodies: all } = upload();
      return segmentedListed(
        at('two-upload.bin'),
        { ...list, parts: list.parts.slice(0, 2) },
        all.slice(0, 2),
      ).inline;
    },
  ],
  'cut-part': [
    'The last part ends with its first segment.',
    'wrong-size',
    () => withBody(upload().inline, (body) => body.subarray(0, 2 * 316 + stored)),
  ],
  'derivation-beside-list': [
    'A header of objects in one piece.',
    'malformed-metadata',
    () => withMetadata(upload().inline, { 'svc-derivation': one().metadata['svc-derivation'] }),
  ],
};

const refusedOf = ([about, reason, make]: readonly [string, string, () => StoredObject]) =>
  refused(about, reason, make());

export const segmentedRefused: Vectors = {
  ...Object.fromEntries(
    Object.entries(bodies).map(([name, [about, reason, change]]) => [
      `format-2-${name}`,
      () => refusedOf([about, reason, () => withBody(three(), change)]),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({ ...metadata, ...lists }).map(([name, made]) => [
      `format-2-${name}`,
      () => refusedOf(made),
    ]),
  ),
};
