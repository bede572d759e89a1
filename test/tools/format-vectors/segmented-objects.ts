import { randomBytes } from 'node:crypto';
import { BodyKeys, freshSalt, sealKeyOf } from '../../../src/objects/format/body-keys.ts';
import { dekBytes } from '../../../src/objects/format/cipher.ts';
import { type SegmentedPartList, sealMac } from '../../../src/objects/format/manifest.ts';
import { type Envelope, envelopeHeaders, type ObjectName } from '../../../src/objects/format/metadata.ts';
import { sealMd5, sealWholeChecksum } from '../../../src/objects/format/sealed-checksums.ts';
import { sealSegments } from '../../objects/format/seal-segments.ts';
import {
  keyName,
  type Multipart,
  manifestObject,
  type Part,
  type StoredObject,
  transitKey,
  type WriteOptions,
  wrap,
} from './stored-objects.ts';

/** The object as PutObject leaves it in format 2. */
export function segmented(name: ObjectName, plaintext: Buffer, options: WriteOptions = {}): StoredObject {
  const dek = randomBytes(dekBytes);
  const keys = new BodyKeys(dek, freshSalt(), 0);
  const { checksum, md5 } = options;
  const sealed = checksum && sealWholeChecksum(dek, String(plaintext.length), checksum);
  const metadata = metadataOf(options, {
    keys: { form: 'single', dek: wrap(dek, name, { kind: 'object', format: 2 }, options) },
    derivation: { salt: keys.salt, commitment: keys.commitment(plaintext.length) },
    ...(checksum && sealed && { checksum: { algorithm: checksum.algorithm, type: checksum.type, sealed } }),
    ...(md5 !== undefined && { md5: sealMd5(dek, md5) }),
  });
  return { ...name, metadata, body: sealSegments(keys, plaintext) };
}

function metadataOf(
  { binding = 'key', key = transitKey }: WriteOptions,
  envelope: Pick<Envelope, 'keys' | 'derivation' | 'checksum' | 'md5'>,
): Record<string, string> {
  const headers = envelopeHeaders({ format: 2, keyName, keyVersion: key.latest, binding, ...envelope });
  return Object.fromEntries(
    Object.entries(headers).map(([header, value]) => [header.slice('x-amz-meta-'.length), value]),
  );
}

/** A multipart object in format 2 in both of its forms. */
export interface SegmentedMultipart extends Omit<Multipart, 'list'> {
  readonly list: SegmentedPartList;
}

export function segmentedMultipart(
  name: ObjectName,
  parts: readonly Part[],
  options: WriteOptions = {},
): SegmentedMultipart {
  const manifest = randomBytes(16).toString('base64url');
  const dek = randomBytes(dekBytes);
  const seal = wrap(dek, name, { kind: 'seal', upload: manifest, format: 2 }, options);
  const written = parts.map(({ n, plaintext }) => {
    const keys = new BodyKeys(dek, freshSalt(), n);
    return { entry: { n, salt: keys.salt, size: plaintext.length }, body: sealSegments(keys, plaintext) };
  });
  const entries = written.map(({ entry }) => entry);
  const sealKey = sealKeyOf(dek, manifest);
  const mac = sealMac(sealKey, manifest, entries, 2);
  const sum = options.checksum && sealWholeChecksum(sealKey, mac, options.checksum);
  const list: SegmentedPartList = {
    ...{ format: 2, manifest, parts: entries, seal, mac },
    ...(sum !== undefined && { sum }),
  };
  const bodies = written.map(({ body }) => body);
  return { list, sealKey, bodies, ...segmentedListed(name, list, bodies, options) };
}

/** The objects that hold such a list, whether or not it is true. */
export function segmentedListed(
  name: ObjectName,
  list: SegmentedPartList,
  bodies: readonly Buffer[],
  options: WriteOptions = {},
): Pick<SegmentedMultipart, 'inline' | 'pointer' | 'manifest'> {
  const { manifest, seal } = list;
  const body = Buffer.concat(bodies);
  const { checksum } = options;
  const kept = checksum && { checksum: { algorithm: checksum.algorithm, type: checksum.type } };
  return {
    inline: { ...name, metadata: metadataOf(options, { keys: { form: 'inline', list }, ...kept }), body },
    pointer: {
      ...name,
      metadata: metadataOf(options, { keys: { form: 'pointer', manifest, seal }, ...kept }),
      body,
    },
    manifest: manifestObject(name, list),
  };
}
