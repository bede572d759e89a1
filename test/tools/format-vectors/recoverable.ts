import type { PartList } from '../../../src/objects/format/manifest.ts';
import {
  associatedData,
  type BindingMode,
  type KeyPurpose,
  type ObjectName,
} from '../../../src/objects/format/metadata.ts';
import { sealForRecovery, sealPartForRecovery } from '../../../src/objects/format/recovery.ts';
import {
  rawPublicKey,
  x25519PrivateKey,
  x25519PublicKey,
} from '../../../src/runtime/recovery-recipients/x25519.ts';
import { bech32 } from '../../support/age-keys.ts';
import { flipped, one, refused, three, withMetadata } from './edits.ts';
import { at, joined, parts, text, type Vector, type Vectors } from './readable.ts';
import { seededBytes } from './seeded.ts';
import { segmented, segmentedListed, segmentedMultipart } from './segmented-objects.ts';
import { listed, type Multipart, type StoredObject, single, transitKey } from './stored-objects.ts';

const identity = seededBytes('recovery key', 32);
const publicOf = (raw: Buffer) => x25519PublicKey(rawPublicKey(x25519PrivateKey(raw)));
const recipient = publicOf(identity);
const stranger = publicOf(seededBytes('recovery key of somebody else', 32));

/** As age-keygen writes it. */
export const recoveryKeyFile = (): string =>
  `# for these vectors alone\n${bech32('age-secret-key-', identity).toUpperCase()}\n`;

const unwrapped = (wrapped: string, name: ObjectName, purpose: KeyPurpose, binding: BindingMode): Buffer =>
  transitKey.decrypt(wrapped, Buffer.from(associatedData(binding, name, purpose) ?? ''));

interface Sealing {
  readonly recipients?: readonly ReturnType<typeof publicOf>[];
  readonly binding?: BindingMode;
  /** Whose place the key is sealed for. */
  readonly place?: ObjectName;
}

/** The object with the key that `wrapped` holds sealed to recovery keys. */
function sealedFor(
  object: StoredObject,
  wrapped: string,
  purpose: KeyPurpose,
  { recipients = [recipient], binding = 'key', place = object }: Sealing = {},
  sealedAs = purpose,
): StoredObject {
  const key = unwrapped(wrapped, object, purpose, binding);
  return withMetadata(object, {
    'svc-recovery': sealForRecovery(recipients, key, binding, place, sealedAs),
  });
}

const wrappedIn = (object: StoredObject) => object.metadata['svc-wrapped-dek'] as string;
const whole = (object: StoredObject, sealing?: Sealing) =>
  sealedFor(object, wrappedIn(object), { kind: 'object' }, sealing);

/** A list of format 1 with the DEKs of its parts under the seal key. */
function withParts({ list, sealKey, bodies }: Multipart, name: ObjectName) {
  const entries = list.parts.map((part) => {
    const purpose = { kind: 'part', upload: list.manifest, number: part.n } as const;
    const dek = unwrapped(part.dek, name, purpose, 'key');
    return { ...part, recovery: sealPartForRecovery(sealKey, list.manifest, part.n, dek) };
  });
  return { list: { ...list, parts: entries }, bodies };
}

const relisted = (name: ObjectName, list: PartList, bodies: readonly Buffer[]) => {
  const objects = listed(name, list, bodies);
  const purpose = { kind: 'seal', upload: list.manifest } as const;
  return {
    inline: sealedFor(objects.inline, list.seal, purpose),
    pointer: sealedFor(objects.pointer, list.seal, purpose),
    manifest: objects.manifest,
  };
};

const recoverableThree = () => withParts(three(), at('three.bin'));

const of = (about: string, plaintext: Buffer, object: StoredObject, ...helpers: StoredObject[]): Vector => ({
  about,
  read: { bucket: object.bucket, key: object.key },
  objects: [...helpers, object],
  expect: { plaintext },
});

const read: Vectors = {
  single: () => of('One body, its DEK sealed to the recovery key.', text('one', 100), whole(one())),
  'single-unbound': () =>
    of(
      'Not bound: nothing but the purpose is in the info.',
      text('one', 100),
      whole(one({ binding: 'none' }), { binding: 'none' }),
    ),
  'single-second-recipient': () =>
    of(
      'Two recipients; the key is the second.',
      text('one', 100),
      whole(one(), { recipients: [stranger, recipient] }),
    ),
  inline: () => {
    const { list, bodies } = recoverableThree();
    const plaintext = joined(parts(300, 300, 300));
    return of(
      'Parts, each DEK under the seal key.',
      plaintext,
      relisted(at('three.bin'), list, bodies).inline,
    );
  },
  pointer: () => {
    const { list, bodies } = recoverableThree();
    const { pointer, manifest } = relisted(at('three.bin'), list, bodies);
    return of('The same, the list in a manifest.', joined(parts(300, 300, 300)), pointer, manifest);
  },
  'format-2-single': () => {
    const object = segmented(at('two.bin'), text('two', 70_000));
    const sealed = sealedFor(object, wrappedIn(object), { kind: 'object', format: 2 });
    return of('Format 2, one body.', text('two', 70_000), sealed);
  },
  'format-2-inline': () => {
    const { inline, list } = segmentedMultipart(at('two.bin'), parts(300, 300));
    const purpose = { kind: 'seal', upload: list.manifest, format: 2 } as const;
    return of(
      'Format 2, parts: one key for all.',
      joined(parts(300, 300)),
      sealedFor(inline, list.seal, purpose),
    );
  },
  'format-2-pointer': () => {
    const { pointer, manifest, list } = segmentedMultipart(at('two.bin'), parts(300, 70_000));
    const purpose = { kind: 'seal', upload: list.manifest, format: 2 } as const;
    const sealed = sealedFor(pointer, list.seal, purpose);
    return of('The same, the list in a manifest.', joined(parts(300, 70_000)), sealed, manifest);
  },
  'format-2-unbound': () => {
    const object = segmented(at('two.bin'), text('two', 100), { binding: 'none' });
    return of('Format 2, not bound.', text('two', 100), two(object, { binding: 'none' }));
  },
  'format-2-empty': () => of('Format 2, empty: no body.', text('', 0), two(twoOf(0))),
  'single-rewrapped': () => {
    const object = withMetadata(whole(one()), { 'svc-key-name': 'gone' });
    return of('Under a transit key that is gone: the blob is what it was.', text('one', 100), object);
  },
};

const twoOf = (size: number) => segmented(at('two.bin'), text('two', size));
const two = (object = twoOf(100), sealing?: Sealing, purpose: KeyPurpose = ofTwo) => {
  const { 'svc-recovery': sealed } = sealedFor(object, wrappedIn(object), ofTwo, sealing, purpose).metadata;
  return withMetadata(object, { 'svc-recovery': sealed });
};
const ofTwo: KeyPurpose = { kind: 'object', format: 2 };

const lost = 'not-recoverable';
const headerOf = (object: StoredObject) => object.metadata['svc-recovery'] as string;

const refuse: Vectors = {
  'no-header': () => refused('Sealed to no recovery key.', lost, one()),
  'other-recipient': () =>
    refused('Sealed to another recovery key.', lost, whole(one(), { recipients: [stranger] })),
  'other-name': () => refused('Sealed for another object.', lost, whole(one(), { place: at('other.bin') })),
  'tag-bit': () => {
    const object = whole(one());
    const blob = flipped(Buffer.from(headerOf(object), 'base64url'), -1).toString('base64url');
    return refused('A bit of the blob differs.', lost, withMetadata(object, { 'svc-recovery': blob }));
  },
  'header-cut': () => {
    const object = whole(one());
    const cut = { 'svc-recovery': headerOf(object).slice(0, -1) };
    return refused('A blob of 106 characters.', 'malformed-metadata', withMetadata(object, cut));
  },
  'body-bit': () => {
    const object = whole(single(at('one.bin'), text('one', 100)));
    const body = flipped(object.body, 20);
    return refused('A bit of the body differs.', 'authentication-failed', { ...object, body });
  },
  'part-without': () => {
    const { list, inline } = three();
    const purpose = { kind: 'seal', upload: list.manifest } as const;
    return refused('Parts whose DEKs are not sealed.', lost, sealedFor(inline, list.seal, purpose));
  },
  'parts-exchanged': () => {
    const { list, bodies } = recoverableThree();
    const [first, second, third] = list.parts;
    const exchanged = [
      { ...first, recovery: second?.recovery },
      { ...second, recovery: first?.recovery },
      third,
    ] as PartList['parts'];
    const forged = relisted(at('three.bin'), { ...list, parts: exchanged }, bodies).inline;
    return refused('The sealed DEKs of two parts in exchange.', lost, forged);
  },
  'format-2-other-name': () =>
    refused('Format 2, sealed for another object.', lost, two(twoOf(100), { place: at('other.bin') })),
  'format-2-of-format-1': () =>
    refused(
      'Format 2, sealed as the key of an object of format 1.',
      lost,
      two(twoOf(100), {}, { kind: 'object' }),
    ),
  'format-2-cut': () => {
    const object = two(twoOf(70_000));
    const body = object.body.subarray(0, 65_552);
    return refused('Format 2, ends with its first segment.', 'wrong-commitment', { ...object, body });
  },
  'format-2-body-bit': () => {
    const object = two();
    const body = flipped(object.body, 20);
    return refused('Format 2, a bit of the body differs.', 'authentication-failed', { ...object, body });
  },
  'format-2-salts-exchanged': () => {
    const { list, bodies } = segmentedMultipart(at('two.bin'), parts(300, 300));
    const salts = list.parts.map(({ salt }) => salt).reverse();
    const exchanged = list.parts.map((part, index) => ({ ...part, salt: salts[index] as string }));
    const { inline } = segmentedListed(at('two.bin'), { ...list, parts: exchanged }, bodies);
    const purpose = { kind: 'seal', upload: list.manifest, format: 2 } as const;
    const forged = sealedFor(inline, list.seal, purpose);
    return refused('Format 2, the salts of two parts in exchange.', 'manifest-forged', forged);
  },
  'manifest-missing': () => {
    const { list, bodies } = recoverableThree();
    const { pointer } = relisted(at('three.bin'), list, bodies);
    return refused('The manifest is not there.', 'manifest-missing', pointer);
  },
};

const named = (prefix: string, vectors: Vectors): Vectors =>
  Object.fromEntries(Object.entries(vectors).map(([name, make]) => [`${prefix}-${name}`, make]));

/** To be read with the recovery key alone. */
export const recovery: Vectors = { ...named('read', read), ...named('refuse', refuse) };
