import type { PartList } from '../../../src/objects/format/manifest.ts';
import {
  type ChecksumAlgorithm,
  createChecksum,
  loadChecksums,
  toldChecksum,
  type WholeChecksum,
} from '../../../src/objects/s3/checksum.ts';
import { type UploadChecksum, wholeChecksum } from '../../../src/objects/s3/object-checksum.ts';
import { flipped, type Metadata, refused, withMetadata } from './edits.ts';
import { at, joined, parts, text, type Vector, type Vectors } from './readable.ts';
import { segmented, segmentedMultipart } from './segmented-objects.ts';
import { listed, type Multipart, multipart, type Part, type StoredObject, single } from './stored-objects.ts';

const algorithms: readonly ChecksumAlgorithm[] = [
  ...(['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256', 'sha512', 'md5'] as const),
  ...(['xxhash64', 'xxhash3', 'xxhash128'] as const),
];
await loadChecksums(algorithms);

const digestOf = (algorithm: ChecksumAlgorithm, plaintext: Buffer): Buffer => {
  const running = createChecksum(algorithm);
  running.update(plaintext);
  return running.digest();
};

export const fullChecksum = (algorithm: ChecksumAlgorithm, plaintext: Buffer): WholeChecksum =>
  toldChecksum({ algorithm, type: 'FULL_OBJECT' }, digestOf(algorithm, plaintext), 1);

const ofParts = (begun: UploadChecksum, all: readonly Part[]): WholeChecksum =>
  wholeChecksum(
    begun,
    all.map(({ plaintext }) => ({
      size: plaintext.length,
      checksum: digestOf(begun.algorithm, plaintext),
    })),
  );

const read = (
  about: string,
  object: StoredObject,
  plaintext: Buffer,
  checksum: WholeChecksum | 'record-forged' | undefined,
  ...helpers: StoredObject[]
): Vector => {
  const told =
    typeof checksum === 'object' ? `${checksum.algorithm} ${checksum.type} ${checksum.text}` : checksum;
  return {
    about,
    read: { bucket: object.bucket, key: object.key },
    objects: [...helpers, object],
    expect: { plaintext, ...(told !== undefined && { checksum: told }) },
  };
};

const header = 'svc-checksum';
const whole = text('summed', 100);
const summed = (checksum = fullChecksum('crc32', whole)) => single(at('summed.bin'), whole, { checksum });
const headerOf = (object: StoredObject) => object.metadata[header] as string;
/** Algorithm, type and sealed part. */
const piecesOf = (object: StoredObject) => headerOf(object).split('.') as [string, string, string];
const flippedSum = (sealed: string, place: number) =>
  flipped(Buffer.from(sealed, 'base64url'), place).toString('base64url');

const withHeader = (
  change: (pieces: [string, string, string]) => string | undefined,
  object = summed(),
): StoredObject => withMetadata(object, { [header]: change(piecesOf(object)) });
const forged = (about: string, change: (sealed: string) => string) => () =>
  read(
    about,
    withHeader(([algorithm, type, sealed]) => `${algorithm}.${type}.${change(sealed)}`),
    whole,
    'record-forged',
  );

/** A later version's algorithm: its number is none that is known. */
const later = { ...fullChecksum('crc32', whole), algorithm: 'later' as ChecksumAlgorithm };

const singles: Vectors = {
  ...Object.fromEntries(
    algorithms.map((algorithm) => [
      `checksum-single-${algorithm}`,
      () => {
        const checksum = fullChecksum(algorithm, whole);
        return read(
          `The ${algorithm} of the plaintext is kept with the object.`,
          summed(checksum),
          whole,
          checksum,
        );
      },
    ]),
  ),
  'checksum-single-folder': () => {
    const nothing = Buffer.alloc(0);
    const checksum = fullChecksum('sha256', nothing);
    const object = single(at('summed/'), nothing, { checksum });
    return read('Beside the seal of an empty object without a body.', object, nothing, checksum);
  },
  'checksum-single-unknown-algorithm': () =>
    read(
      'An algorithm that a later version may add: the header is passed over.',
      summed(later),
      whole,
      undefined,
    ),
  'checksum-single-unknown-number': () =>
    read(
      'A number that a later version may add, under a known name: the number decides, and the checksum is passed over.',
      withHeader(([, , sealed]) => `crc32.full.${sealed}`, summed(later)),
      whole,
      undefined,
    ),
  'checksum-single-renamed': () =>
    read(
      'The name in the clear is another: what is sealed decides.',
      withHeader(([, , sealed]) => `sha256.composite.${sealed}`),
      whole,
      fullChecksum('crc32', whole),
    ),
  'checksum-single-removed': () =>
    read(
      'The header is taken away: as if there had been no checksum.',
      withHeader(() => undefined),
      whole,
      undefined,
    ),
  'checksum-single-tag-bit': forged('One bit of the tag is changed.', (it) => flippedSum(it, -1)),
  'checksum-single-digest-bit': forged('One bit of the ciphertext is changed.', (it) => flippedSum(it, 14)),
  'checksum-single-nonce-bit': forged('One bit of the nonce is changed.', (it) => flippedSum(it, 0)),
  'checksum-single-short': forged('Shorter than nonce and tag.', (it) => it.slice(0, 30)),
  'checksum-single-of-other': forged(
    'The checksum of another object with the same plaintext.',
    () => piecesOf(single(at('other.bin'), whole, { checksum: fullChecksum('crc32', whole) }))[2],
  ),
};

const all = parts(300, 300, 77);
const composite = ofParts({ algorithm: 'sha256', type: 'COMPOSITE' }, all);
const full = ofParts({ algorithm: 'crc32', type: 'FULL_OBJECT' }, all);
const inParts = (checksum?: WholeChecksum) =>
  multipart(at('summed-parts.bin'), all, checksum ? { checksum } : {});
/** Another list, in the header of its object. */
const relisted = (written: Multipart, list: PartList, checksum: WholeChecksum) =>
  listed(at('summed-parts.bin'), list, written.bodies, { checksum }).inline;

const lists: Vectors = {
  'checksum-inline-composite': () =>
    read('Over the SHA-256 of each part.', inParts(composite).inline, joined(all), composite),
  'checksum-inline-composite-crc32': () => {
    const checksum = ofParts({ algorithm: 'crc32', type: 'COMPOSITE' }, all);
    return read('Over the CRC-32 of each part.', inParts(checksum).inline, joined(all), checksum);
  },
  'checksum-pointer-full': () => {
    const { pointer, manifest } = inParts(full);
    return read('Of the whole, in the list of a manifest.', pointer, joined(all), full, manifest);
  },
  'checksum-inline-without-header': () =>
    read(
      'The list has the checksum, and no header names it.',
      withMetadata(inParts(full).inline, { [header]: undefined }),
      joined(all),
      full,
    ),
  'checksum-inline-header-alone': () =>
    read(
      'The header names a checksum that the list does not have.',
      withMetadata(inParts().inline, { [header]: 'crc32.full' }),
      joined(all),
      undefined,
    ),
  'checksum-inline-bit': () => {
    const written = inParts(full);
    const list = { ...written.list, sum: flippedSum(written.list.sum as string, 13) };
    return read('One bit of it is changed.', relisted(written, list, full), joined(all), 'record-forged');
  },
  'checksum-inline-of-other-upload': () => {
    const written = inParts(full);
    const list = { ...written.list, sum: inParts(full).list.sum as string };
    return read(
      'The checksum of another upload of the same object.',
      relisted(written, list, full),
      joined(all),
      'record-forged',
    );
  },
};

const inSegments: Vectors = {
  'format-2-checksum-composite': () => {
    const checksum = ofParts({ algorithm: 'sha256', type: 'COMPOSITE' }, all);
    const { pointer, manifest } = segmentedMultipart(at('two-composite.bin'), all, { checksum });
    return read('Format 2, over the SHA-256 of each part.', pointer, joined(all), checksum, manifest);
  },
  'format-2-checksum-tag-bit': () => {
    const object = segmented(at('two-summed.bin'), whole, { checksum: fullChecksum('crc32', whole) });
    const [algorithm, type, sealed] = piecesOf(object);
    const forgedHeader = { [header]: [algorithm, type, flippedSum(sealed, -1)].join('.') };
    return read(
      'Format 2, one bit of the tag is changed.',
      withMetadata(object, forgedHeader),
      whole,
      'record-forged',
    );
  },
};

export const checksums: Vectors = { ...singles, ...lists, ...inSegments };

const required = ['svc-encrypted', 'svc-wrapped-dek', 'svc-algorithm', 'svc-key-name', 'svc-key-version'];
const others: Metadata = Object.fromEntries([...required, 'svc-binding'].map((name) => [name, undefined]));

const malformed = (about: string, change: (pieces: [string, string, string]) => string) => () =>
  refused(about, 'malformed-metadata', withHeader(change));
const malformedList = (about: string, sum: unknown) => () => {
  const written = inParts(full);
  return refused(about, 'malformed-metadata', relisted(written, { ...written.list, sum } as PartList, full));
};

export const refusedChecksums: Vectors = {
  'checksum-alone': () =>
    refused(
      'Of the svc metadata, the checksum alone is left.',
      'partial-metadata',
      withMetadata(summed(), others),
    ),
  'checksum-empty': malformed('The header is empty.', () => ''),
  'checksum-upper-case': malformed('Names are in lower case.', ([, , sealed]) => `CRC32.full.${sealed}`),
  'checksum-type-unknown': malformed('Neither full nor composite.', ([, , it]) => `crc32.half.${it}`),
  'checksum-not-base64url': malformed(
    'The sealed part is no base64url.',
    ([, , sealed]) => `crc32.full.${sealed}+`,
  ),
  'checksum-too-long': malformed(
    'The sealed part has more than 200 characters.',
    () => `crc32.full.${'A'.repeat(201)}`,
  ),
  'checksum-unsealed': malformed('One piece, and no sealed part.', () => 'crc32.full'),
  'checksum-sealed-beside-list': () =>
    refused(
      'A sealed part beside a part list, which has its own.',
      'malformed-metadata',
      withMetadata(inParts(full).inline, { [header]: headerOf(summed()) }),
    ),
  'checksum-list-empty': malformedList('The checksum in the list is empty.', ''),
  'checksum-list-number': malformedList('The checksum in the list is no text.', 1),
  'checksum-list-null': malformedList('Absent, or a text; never null.', null),
};
