import { randomBytes } from 'node:crypto';
import type { PartEntry } from '../../../src/objects/format/body-format.ts';
import { dekBytes, encryptBody } from '../../../src/objects/format/cipher.ts';
import { type PartList, type StoredPartList, sealMac } from '../../../src/objects/format/manifest.ts';
import {
  associatedData,
  type BindingMode,
  type Envelope,
  envelopeHeaders,
  hasNoBody,
  type KeyPurpose,
  type ObjectName,
  type WrappedKeys,
} from '../../../src/objects/format/metadata.ts';
import { manifestBytes, manifestKey } from '../../../src/objects/format/records.ts';
import {
  type EnvelopeChecksum,
  sealMd5,
  sealWholeChecksum,
} from '../../../src/objects/format/sealed-checksums.ts';
import type { WholeChecksum } from '../../../src/objects/s3/checksum.ts';
import { TransitKey } from '../../../src/plugins/dev/keys/transit-keys.ts';
import { seededBytes } from './seeded.ts';

/** One object as the store holds it; names of metadata without `x-amz-meta-`. */
export interface StoredObject extends ObjectName {
  readonly metadata: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const created = '2026-01-01T00:00:00Z';
const minDecryptionVersion = 1;
const versions = [1, 2].map((version) =>
  seededBytes(`transit key version ${version}`, 32).toString('base64'),
);

/** The transit key of the vectors after its rotation, and before. */
export const transitKey = new TransitKey({ created, versions, minDecryptionVersion });
export const olderTransitKey = new TransitKey({
  created,
  versions: versions.slice(0, 1),
  minDecryptionVersion,
});

/** One of another name, which is gone. */
export const formerTransitKey = new TransitKey({
  created,
  versions: [seededBytes('former transit key', 32).toString('base64')],
  minDecryptionVersion,
});

/** The versions in the form in which the key server exports them. */
export const exportedKey = () => ({
  about:
    'A transit key in the clear, for these vectors alone: what GET transit/export/encryption-key/svc answers.',
  data: {
    name: keyName,
    type: 'aes256-gcm96',
    keys: Object.fromEntries(versions.map((key, index) => [String(index + 1), key])),
  },
});

export const keyName = 'svc';
export const reservedPrefix = '.svc/';

export interface WriteOptions {
  readonly binding?: BindingMode;
  /** Default: the rotated one. */
  readonly key?: TransitKey;
  /** To be kept with the object. */
  readonly checksum?: WholeChecksum;
  /** The one that the writer of an object in one piece names, in base64. */
  readonly md5?: string;
}

export function wrap(
  dek: Uint8Array,
  name: ObjectName,
  purpose: KeyPurpose,
  { binding = 'key', key = transitKey }: WriteOptions = {},
): string {
  return key.encrypt(Buffer.from(dek), Buffer.from(associatedData(binding, name, purpose) ?? ''));
}

function sealedBody(dek: Buffer, plaintext: Buffer): Buffer {
  const encryption = encryptBody(dek);
  return Buffer.concat([encryption.nonce, encryption.update(plaintext), encryption.finish()]);
}

/** Metadata names as S3 tools show them. */
const shortNames = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.slice('x-amz-meta-'.length), value]),
  );

function metadataOf(
  keys: WrappedKeys,
  { binding = 'key', key = transitKey }: WriteOptions,
  besides: Pick<Envelope, 'emptySeal' | 'checksum' | 'md5'> = {},
) {
  const envelope: Envelope = { ...{ keys, keyName, keyVersion: key.latest, binding }, ...besides };
  return shortNames(envelopeHeaders(envelope));
}

/** An object in one piece, as PutObject leaves it. */
export function single(name: ObjectName, plaintext: Buffer, options: WriteOptions = {}): StoredObject {
  const dek = randomBytes(dekBytes);
  const body = sealedBody(dek, plaintext);
  const keys = { form: 'single', dek: wrap(dek, name, { kind: 'object' }, options) } as const;
  const { checksum, md5 } = options;
  const kept = {
    ...keptIn(options, checksum && sealWholeChecksum(dek, String(plaintext.length), checksum)),
    ...(md5 !== undefined && { md5: sealMd5(dek, md5) }),
  };
  if (!hasNoBody(name.key, plaintext.length))
    return { ...name, metadata: metadataOf(keys, options, kept), body };
  const besides = { ...kept, emptySeal: body.toString('base64') };
  return { ...name, metadata: metadataOf(keys, options, besides), body: Buffer.alloc(0) };
}

/** What the header says; the sealed part stands there with objects in one piece alone. */
function keptIn({ checksum }: WriteOptions, sealed?: string): { checksum?: EnvelopeChecksum } {
  if (checksum === undefined) return {};
  const { algorithm, type } = checksum;
  return { checksum: { algorithm, type, ...(sealed !== undefined && { sealed }) } };
}

/** A multipart object in both of its forms. */
export interface Multipart {
  readonly list: PartList;
  readonly sealKey: Buffer;
  /** The stored bodies of the parts. */
  readonly bodies: readonly Buffer[];
  readonly inline: StoredObject;
  readonly pointer: StoredObject;
  readonly manifest: StoredObject;
}

export interface Part {
  readonly n: number;
  readonly plaintext: Buffer;
  readonly key?: TransitKey;
}

export function multipart(name: ObjectName, parts: readonly Part[], options: WriteOptions = {}): Multipart {
  const id = randomBytes(16).toString('base64url');
  const sealKey = randomBytes(dekBytes);
  const seal = wrap(sealKey, name, { kind: 'seal', upload: id }, options);
  const written = parts.map(({ n, plaintext, key }) => {
    const dek = randomBytes(dekBytes);
    const body = sealedBody(dek, plaintext);
    const purpose = { kind: 'part', upload: id, number: n } as const;
    const wrapped = wrap(dek, name, purpose, { ...options, ...(key && { key }) });
    const nonce = body.subarray(0, 12).toString('base64');
    return { body, entry: { n, dek: wrapped, nonce, size: plaintext.length } satisfies PartEntry };
  });
  const entries = written.map(({ entry }) => entry);
  const mac = sealMac(sealKey, id, entries);
  const sum = options.checksum && sealWholeChecksum(sealKey, mac, options.checksum);
  const list: PartList = { manifest: id, parts: entries, seal, mac, ...(sum !== undefined && { sum }) };
  const bodies = written.map(({ body }) => body);
  return { list, sealKey, bodies, ...listed(name, list, bodies, options) };
}

/** The objects that hold such a list, whether or not it is true. */
export function listed(
  name: ObjectName,
  list: PartList,
  bodies: readonly Buffer[],
  options: WriteOptions = {},
): Pick<Multipart, 'inline' | 'pointer' | 'manifest'> {
  const body = Buffer.concat(bodies);
  const { manifest, seal } = list;
  const kept = keptIn(options);
  return {
    inline: { ...name, metadata: metadataOf({ form: 'inline', list }, options, kept), body },
    pointer: { ...name, metadata: metadataOf({ form: 'pointer', manifest, seal }, options, kept), body },
    manifest: manifestObject(name, list),
  };
}

export const manifestObject = (name: ObjectName, list: StoredPartList, inside = name): StoredObject => ({
  bucket: name.bucket,
  key: manifestKey(reservedPrefix, name, list.manifest),
  metadata: {},
  body: manifestBytes(inside, list),
});
