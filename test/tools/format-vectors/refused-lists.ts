import type { PartEntry } from '../../../src/objects/format/body-format.ts';
import { type PartList, sealMac, serializePartList } from '../../../src/objects/format/manifest.ts';
import { entry, flipped, refused, three, twin, withEntry, withMetadata } from './edits.ts';
import { at, parts, type Vectors } from './readable.ts';
import { listed, type Multipart, multipart, type StoredObject, type WriteOptions } from './stored-objects.ts';

type Three<T> = [T, T, T];

/** A list with other members, in the header of its object. */
const inHeader = (
  written: Multipart,
  list: PartList,
  stored: readonly Buffer[] = written.bodies,
  options?: WriteOptions,
) => listed(at('three.bin'), list, stored, options).inline;
const headerText = (written: Multipart, change: (list: Record<string, unknown>) => void): StoredObject => {
  const list = JSON.parse(serializePartList(written.list));
  change(list);
  return withMetadata(written.inline, { 'svc-wrapped-dek': JSON.stringify(list) });
};

/** Another order or choice of parts in list and body alike; the seal stays. */
const chosen =
  (
    about: string,
    reason: string,
    choose: (entries: Three<PartEntry>, bodies: Three<Buffer>) => [PartEntry, Buffer][],
  ) =>
  () => {
    const written = three();
    const pairs = choose(
      written.list.parts as unknown as Three<PartEntry>,
      written.bodies as unknown as Three<Buffer>,
    );
    const list = { ...written.list, parts: pairs.map(([entry]) => entry) };
    return refused(
      about,
      reason,
      inHeader(
        written,
        list,
        pairs.map(([, stored]) => stored),
      ),
    );
  };

const partBodies = (about: string, reason: string, change: (bodies: Three<Buffer>) => Buffer[]) => () => {
  const written = three();
  const stored = Buffer.concat(change(written.bodies as unknown as Three<Buffer>));
  return refused(about, reason, { ...written.inline, body: stored });
};

const listEdit =
  (about: string, reason: string, change: (list: PartList) => PartList, options?: WriteOptions) => () => {
    const written = three(options);
    return refused(about, reason, inHeader(written, change(written.list), written.bodies, options));
  };
const listText = (about: string, reason: string, change: (list: Record<string, unknown>) => void) => () =>
  refused(about, reason, headerText(three(), change));

export const refusedLists: Vectors = {
  'parts-swapped-in-body': partBodies(
    'Two parts of equal size change places in the body.',
    'authentication-failed',
    ([a, b, c]) => [b, a, c],
  ),
  'part-repeated-in-body': partBodies(
    'The second part in place of the third.',
    'authentication-failed',
    ([a, b]) => [a, b, b],
  ),
  'part-dropped-from-body': partBodies('The last part is missing from the body.', 'wrong-size', ([a, b]) => [
    a,
    b,
  ]),
  'part-added-to-body': partBodies('A part more in the body.', 'wrong-size', ([a, b, c]) => [a, b, c, c]),
  'part-cut': partBodies('The last byte of the body is missing.', 'wrong-size', ([a, b, c]) => [
    a,
    b,
    c.subarray(0, -1),
  ]),
  'part-longer': partBodies('The body has one byte more.', 'wrong-size', ([a, b, c]) => [
    a,
    b,
    c,
    Buffer.of(0),
  ]),
  'part-tag-bit': partBodies('One bit of the last tag is changed.', 'authentication-failed', ([a, b, c]) => [
    a,
    b,
    flipped(c, -1),
  ]),
  'part-ciphertext-bit': partBodies(
    'One bit of the second ciphertext is changed.',
    'authentication-failed',
    ([a, b, c]) => [a, flipped(b, 100), c],
  ),
  'part-nonce-bit': partBodies(
    'A part does not begin with the nonce of its entry.',
    'authentication-failed',
    ([a, b, c]) => [a, flipped(b, 3), c],
  ),
  'part-boundary-moved': partBodies(
    'One byte moves from the end of a part to the beginning of the next.',
    'authentication-failed',
    ([a, b, c]) => [a.subarray(1), b, c, a.subarray(0, 1)],
  ),
  'list-part-dropped': chosen(
    'The last part is missing from list and body.',
    'manifest-forged',
    ([a, b], [x, y]) => [
      [a, x],
      [b, y],
    ],
  ),
  'list-first-part-dropped': chosen(
    'The first part is missing from list and body.',
    'manifest-forged',
    ([, b, c], [, y, z]) => [
      [b, y],
      [c, z],
    ],
  ),
  'list-part-repeated': chosen(
    'A part twice in list and body, under its own number.',
    'malformed-metadata',
    ([a, b, c], [x, y, z]) => [
      [a, x],
      [b, y],
      [b, y],
      [c, z],
    ],
  ),
  'list-part-repeated-renumbered': chosen(
    'A part twice, the second time under a number of its own.',
    'manifest-forged',
    ([a, b, c], [x, y, z]) => [
      [a, x],
      [b, y],
      [c, z],
      [{ ...c, n: 4 }, z],
    ],
  ),
  'list-reordered': chosen(
    'Two parts change places in list and body.',
    'malformed-metadata',
    ([a, b, c], [x, y, z]) => [
      [b, y],
      [a, x],
      [c, z],
    ],
  ),
  'list-reordered-renumbered': chosen(
    'Two parts change places and numbers in list and body.',
    'manifest-forged',
    ([a, b, c], [x, y, z]) => [
      [{ ...b, n: 1 }, y],
      [{ ...a, n: 2 }, x],
      [c, z],
    ],
  ),
  'list-number-changed': listEdit('The last part has another number.', 'manifest-forged', (list) =>
    withEntry(list, 2, { n: 4 }),
  ),
  'list-size-changed': listEdit(
    'One byte moves from the size of a part to that of the next.',
    'manifest-forged',
    (list) => withEntry(withEntry(list, 0, { size: 299 }), 1, { size: 301 }),
  ),
  'list-nonce-changed': listEdit('The nonce of a part is changed.', 'manifest-forged', (list) =>
    withEntry(list, 1, { nonce: entry(list, 2).nonce }),
  ),
  'list-deks-exchanged': listEdit('The wrapped keys of two parts change places.', 'manifest-forged', (list) =>
    withEntry(withEntry(list, 0, { dek: entry(list, 1).dek }), 1, { dek: entry(list, 0).dek }),
  ),
  'list-mac-bit': listEdit('One bit of the seal is changed.', 'manifest-forged', (list) => ({
    ...list,
    mac: flipped(Buffer.from(list.mac, 'base64'), 31).toString('base64'),
  })),
  'list-mac-cut': listEdit('The seal is shorter.', 'manifest-forged', (list) => ({
    ...list,
    mac: Buffer.from(list.mac, 'base64').subarray(0, 16).toString('base64'),
  })),
  'list-mac-empty': listEdit('The seal is empty.', 'manifest-forged', (list) => ({ ...list, mac: '' })),
  'list-mac-removed': listText('There is no seal.', 'malformed-metadata', (list) => void delete list.mac),
  'list-seal-key-removed': listText(
    'There is no seal key.',
    'malformed-metadata',
    (list) => void delete list.seal,
  ),
  'list-version-unknown': listText(
    'A version of part lists that format 1 does not have.',
    'malformed-metadata',
    (list) => void Object.assign(list, { v: 2 }),
  ),
  'list-version-text': listText(
    'The version is a number.',
    'malformed-metadata',
    (list) => void Object.assign(list, { v: '1' }),
  ),
  'list-empty': listText(
    'A list without parts.',
    'malformed-metadata',
    (list) => void Object.assign(list, { parts: [] }),
  ),
  'list-number-zero': listText(
    'Part numbers begin at 1.',
    'malformed-metadata',
    (list) => void ((list.parts as { n: number }[])[0] as { n: number }).n--,
  ),
  'list-number-beyond': listText(
    'Part numbers end at 10,000.',
    'malformed-metadata',
    (list) => void Object.assign((list.parts as object[])[2] as object, { n: 10_001 }),
  ),
  'list-size-negative': listText(
    'A size below 0.',
    'malformed-metadata',
    (list) => void Object.assign((list.parts as object[])[2] as object, { size: -1 }),
  ),
  'list-size-fraction': listText(
    'A size is a whole number.',
    'malformed-metadata',
    (list) => void Object.assign((list.parts as object[])[2] as object, { size: 1.5 }),
  ),
  'list-nonce-short': listText(
    'A nonce of another length.',
    'malformed-metadata',
    (list) => void Object.assign((list.parts as object[])[2] as object, { nonce: 'AAAA' }),
  ),
  'list-id-changed': listEdit(
    'Another id: seal key and part keys are bound to it.',
    'key-refused',
    (list) => ({ ...list, manifest: 'AAAAAAAAAAAAAAAAAAAAAA' }),
  ),
  'list-id-changed-unbound': listEdit(
    'The same without binding: the seal covers the id.',
    'manifest-forged',
    (list) => ({ ...list, manifest: 'AAAAAAAAAAAAAAAAAAAAAA' }),
    { binding: 'none' },
  ),
  'list-seal-key-of-other': listEdit('The seal key of another upload.', 'key-refused', (list) => ({
    ...list,
    seal: twin().list.seal,
  })),
  'list-seal-key-of-other-unbound': listEdit(
    'The same without binding.',
    'manifest-forged',
    (list) => ({ ...list, seal: twin({ binding: 'none' }).list.seal }),
    { binding: 'none' },
  ),
  'list-resealed': () => {
    const written = three();
    const list = { ...written.list, parts: written.list.parts.slice(0, 2) };
    const forged = { ...list, mac: sealMac(Buffer.alloc(32), list.manifest, list.parts) };
    return refused(
      'Sealed again, under a key that is not the seal key.',
      'manifest-forged',
      inHeader(written, forged, written.bodies.slice(0, 2)),
    );
  },
  'list-part-of-other-object': () => {
    const [written, foreign] = [
      three({ binding: 'none' }),
      multipart(at('other.bin'), parts(300), { binding: 'none' }),
    ];
    const list = withEntry(written.list, 1, { ...entry(foreign.list, 0), n: 2 });
    const stored = [written.bodies[0], foreign.bodies[0], written.bodies[2]] as Buffer[];
    return refused(
      'A part of another object in list and body, neither bound.',
      'manifest-forged',
      inHeader(written, list, stored, { binding: 'none' }),
    );
  },
  'list-part-of-other-upload': () => {
    const [written, foreign] = [three(), twin()];
    const list = withEntry(written.list, 1, entry(foreign.list, 1));
    const sealed = { ...list, mac: sealMac(written.sealKey, list.manifest, list.parts) };
    const stored = [written.bodies[0], foreign.bodies[1], written.bodies[2]] as Buffer[];
    return refused(
      'A part of another upload of the same object, under a true seal: its key is bound to the other upload.',
      'key-refused',
      inHeader(written, sealed, stored),
    );
  },
  'list-under-other-key': () =>
    refused('An object in parts under another key.', 'key-refused', {
      ...three().inline,
      ...at('other.bin'),
    }),
  'part-as-object': () => {
    const written = three();
    return refused(
      'The first part alone, as an object in one piece: its key is bound to its place.',
      'key-refused',
      withMetadata(
        { ...written.inline, body: written.bodies[0] as Buffer },
        { 'svc-wrapped-dek': entry(written.list, 0).dek },
      ),
    );
  },
  'parts-as-object': () => {
    const written = three();
    return refused(
      'The seal key in place of the key of the object.',
      'key-refused',
      withMetadata(written.inline, { 'svc-wrapped-dek': written.list.seal }),
    );
  },
};
