import { randomBytes } from 'node:crypto';
import type { SegmentedPart } from '../../../src/objects/format/body-format.ts';
import { BodyKeys, sealKeyOf } from '../../../src/objects/format/body-keys.ts';
import { dekBytes } from '../../../src/objects/format/cipher.ts';
import { copiedBodyText, readCopiedBody } from '../../../src/objects/format/copied-body.ts';
import { type SegmentedPartList, sealMac } from '../../../src/objects/format/manifest.ts';
import { segmentBytes } from '../../../src/objects/format/segments.ts';
import { sealSegments } from '../../objects/format/seal-segments.ts';
import { refused } from './edits.ts';
import { at, text, type Vector, type Vectors } from './readable.ts';
import { segmentedListed } from './segmented-objects.ts';
import { type StoredObject, wrap } from './stored-objects.ts';

const place = at('two-copied.bin');
const stored = segmentBytes + 16;

/** A body as it was written, in one piece or as a part. */
interface Source {
  readonly dek: Buffer;
  readonly salt: string;
  readonly part: number;
  readonly plaintext: Buffer;
  readonly body: Buffer;
}

function source(label: string, size: number, part = 0): Source {
  const dek = randomBytes(dekBytes);
  const salt = randomBytes(32).toString('base64url');
  const plaintext = text(label, size);
  return { dek, salt, part, plaintext, body: sealSegments(new BodyKeys(dek, salt, part), plaintext) };
}

/** Segments of a source, from `first` to before `end`. */
interface Copied {
  readonly from: Source;
  readonly first?: number;
  readonly end?: number;
}

interface Upload {
  readonly dek: Buffer;
  readonly parts: readonly SegmentedPart[];
  readonly bodies: readonly Buffer[];
  readonly plaintext: Buffer;
}

/** An upload whose first part was written as one, and whose others were copied. */
function uploadOf(...all: readonly Copied[]): Upload {
  const dek = randomBytes(dekBytes);
  const own = new BodyKeys(dek, randomBytes(32).toString('base64url'), 1);
  const written = text('own part', 300);
  const copies = all.map(({ from, first = 0, end = Number.POSITIVE_INFINITY }, index) => {
    const plaintext = from.plaintext.subarray(first * segmentBytes, end * segmentBytes);
    const keys = new BodyKeys(from.dek, from.salt, from.part);
    const n = index + 2;
    const salt = keys.copiedTo(dek, n, { first, ends: end === Number.POSITIVE_INFINITY });
    const body = from.body.subarray(first * stored, end * stored);
    return { part: { n, salt, size: plaintext.length }, body, plaintext };
  });
  return {
    dek,
    parts: [{ n: 1, salt: own.salt, size: written.length }, ...copies.map(({ part }) => part)],
    bodies: [sealSegments(own, written), ...copies.map(({ body }) => body)],
    plaintext: Buffer.concat([written, ...copies.map(({ plaintext }) => plaintext)]),
  };
}

/** The object with its list sealed, whatever its entries say. */
function completed({ dek, parts, bodies }: Upload) {
  const manifest = randomBytes(16).toString('base64url');
  const seal = wrap(dek, place, { kind: 'seal', upload: manifest, format: 2 });
  const mac = sealMac(sealKeyOf(dek, manifest), manifest, parts, 2);
  const list: SegmentedPartList = { format: 2, manifest, parts, seal, mac };
  return { list, ...segmentedListed(place, list, bodies) };
}

function read(about: string, upload: Upload, pointed = false): Vector {
  const { inline, pointer, manifest } = completed(upload);
  return {
    about,
    read: place,
    objects: pointed ? [manifest, pointer] : [inline],
    expect: { plaintext: upload.plaintext },
  };
}

const large = () => source('copied', 3 * segmentBytes + 100);

/** A part that was copied into another upload before. */
function copiedBefore(): Source {
  const from = large();
  const dek = randomBytes(dekBytes);
  const salt = new BodyKeys(from.dek, from.salt, from.part).copiedTo(dek, 7, { first: 1, ends: true });
  return {
    dek,
    salt,
    part: 7,
    plaintext: from.plaintext.subarray(segmentBytes),
    body: from.body.subarray(stored),
  };
}

export const copiedReadable: Vectors = {
  'format-2-copied-whole': () =>
    read('A part that is an object in one piece, as it is stored.', uploadOf({ from: large() })),
  'format-2-copied-part': () =>
    read('A part that was another part of another upload.', uploadOf({ from: source('nine', 70_000, 9) })),
  'format-2-copied-beginning': () =>
    read('The first two segments, of which none is the last.', uploadOf({ from: large(), end: 2 })),
  'format-2-copied-middle': () =>
    read('Segment 1 and 2 of four.', uploadOf({ from: large(), first: 1, end: 3 })),
  'format-2-copied-end': () => read('From segment 2 on.', uploadOf({ from: large(), first: 2 })),
  'format-2-copied-twice': () => {
    const from = large();
    return read('The same segments as two parts.', uploadOf({ from, end: 1 }, { from, end: 1 }));
  },
  'format-2-copied-again': () =>
    read('Segments of a part that was copied.', uploadOf({ from: copiedBefore(), first: 1 })),
  'format-2-copied-pointer': () =>
    read('The list in a manifest.', uploadOf({ from: large(), end: 1 }, { from: source('one', 1) }), true),
};

type Change = (upload: Upload) => Partial<Upload>;
type RefusedVector = readonly [about: string, reason: string, Change];

const changed =
  (index: number, change: (part: SegmentedPart) => Partial<SegmentedPart>): Change =>
  ({ parts }) => ({
    parts: parts.map((part, position) => (position === index ? { ...part, ...change(part) } : part)),
  });

const copiedAs = (change: object) =>
  changed(1, ({ salt }) => {
    const copied = readCopiedBody(salt);
    if (copied === undefined) throw new TypeError('not a copied part');
    return { salt: copiedBodyText({ ...copied, ...change }) };
  });

const other = () => uploadOf({ from: large(), first: 1, end: 3 }, { from: large(), end: 2 });

/** By a writer who has the upload's key: the seal of the list is right. */
const resealed: Readonly<Record<string, RefusedVector>> = {
  'wrong-first': ['Said to begin with another segment.', 'authentication-failed', copiedAs({ first: 0 })],
  'wrong-end': ['Said to end with the last segment.', 'authentication-failed', copiedAs({ ends: true })],
  'wrong-part': ['Said to be of another part.', 'authentication-failed', copiedAs({ part: 2 })],
  'key-of-other': [
    'The key of another copied part.',
    'authentication-failed',
    (it) => copiedAs({ sealed: readCopiedBody(it.parts[2]?.salt ?? '')?.sealed })(it),
  ],
  'key-of-other-upload': [
    'Salt and key of a copied part of another upload.',
    'authentication-failed',
    changed(1, () => ({ salt: other().parts[1]?.salt as string })),
  ],
  'entries-exchanged': [
    'The salts of two copied parts exchanged: each key is sealed for its number.',
    'authentication-failed',
    ({ parts: [own, first, second] }) => ({
      parts: [
        own,
        { ...first, salt: second?.salt },
        { ...second, salt: first?.salt },
      ] as readonly SegmentedPart[],
    }),
  ],
  'without-key': [
    'The salt alone, as of a part that was written.',
    'authentication-failed',
    changed(1, ({ salt }) => ({ salt: salt.slice(0, 43) })),
  ],
  'short-key': [
    'A key of 47 bytes.',
    'malformed-metadata',
    changed(1, ({ salt }) => ({ salt: salt.slice(0, -1) })),
  ],
  'number-with-zero': [
    'A part number with a zero in front.',
    'malformed-metadata',
    changed(1, ({ salt }) => ({ salt: salt.replace(/^(.{43})\./, '$1.0') })),
  ],
};

/** By the store. */
const bodies: Readonly<Record<string, RefusedVector>> = {
  'part-of-other-object': [
    'The same segments of another object.',
    'authentication-failed',
    (it) => ({ bodies: [it.bodies[0] as Buffer, other().bodies[1] as Buffer, it.bodies[2] as Buffer] }),
  ],
  'other-segments': [
    'Other segments of the same body.',
    'authentication-failed',
    ({ bodies: [own, first, second] }) => ({
      bodies: [own as Buffer, Buffer.concat(swappedSegments(first as Buffer)), second as Buffer],
    }),
  ],
  'bodies-exchanged': [
    'The bodies of two copied parts exchanged.',
    'authentication-failed',
    ({ bodies: [own, first, second] }) => ({ bodies: [own, second, first] as readonly Buffer[] }),
  ],
};

const swappedSegments = (body: Buffer): Buffer[] => [body.subarray(stored), body.subarray(0, stored)];

const withForgedList = (change: Change): StoredObject => {
  const upload = other();
  const { list } = completed(upload);
  const { parts = list.parts } = change(upload);
  return segmentedListed(place, { ...list, parts }, upload.bodies).inline;
};

const lists: Readonly<Record<string, RefusedVector>> = {
  'first-changed': ['The store changes the first segment.', 'manifest-forged', copiedAs({ first: 0 })],
  'salt-of-other-part': [
    'The store takes the salt of another copied part.',
    'manifest-forged',
    (it) => changed(1, () => ({ salt: it.parts[2]?.salt as string }))(it),
  ],
};

export const copiedRefused: Vectors = {
  ...Object.fromEntries(
    Object.entries({ ...resealed, ...bodies }).map(([name, [about, reason, change]]) => [
      `format-2-copied-${name}`,
      () => {
        const upload = other();
        return refused(about, reason, completed({ ...upload, ...change(upload) }).inline);
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(lists).map(([name, [about, reason, change]]) => [
      `format-2-copied-${name}`,
      () => refused(about, reason, withForgedList(change)),
    ]),
  ),
};
