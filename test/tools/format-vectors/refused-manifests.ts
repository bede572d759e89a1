import type { PartList } from '../../../src/objects/format/manifest.ts';
import type { ObjectName } from '../../../src/objects/format/metadata.ts';
import { manifestKey } from '../../../src/objects/format/records.ts';
import { dekOf, flipped, refused, three, twin, withMetadata } from './edits.ts';
import { at, bucket, parts, type Vectors } from './readable.ts';
import {
  listed,
  type Multipart,
  manifestObject,
  multipart,
  reservedPrefix,
  type StoredObject,
} from './stored-objects.ts';

/** A pointer, and what lies where its manifest should. */
export const refusedManifests: Vectors = {
  'manifest-missing': () => refused('The manifest is not there.', 'manifest-missing', three().pointer),
  'manifest-empty': manifestBody('The manifest is empty.', 'malformed-metadata', () => ''),
  'manifest-cut': manifestBody('The manifest ends early.', 'malformed-metadata', (it) => it.slice(0, -1)),
  'manifest-not-object': manifestBody('JSON, but no object.', 'malformed-metadata', () => '[]'),
  'manifest-version-unknown': manifestBody(
    'A version of manifests that format 1 does not have.',
    'malformed-metadata',
    (it) => it.replace('{"v":1,', '{"v":2,'),
  ),
  'manifest-list-version-unknown': manifestBody(
    'A version of lists that format 1 does not have.',
    'malformed-metadata',
    (it) => it.replace('"list":{"v":1,', '"list":{"v":2,'),
  ),
  'manifest-other-key-inside': inside('The manifest names another key.', at('other.bin')),
  'manifest-other-bucket-inside': inside('The manifest names another bucket.', {
    bucket: 'elsewhere',
    key: 'three.bin',
  }),
  'manifest-of-other-object': () => {
    const [written, foreign] = [three(), multipart(at('other.bin'), parts(300, 300, 300))];
    return refused(
      'The manifest of another object in this place.',
      'manifest-forged',
      written.pointer,
      inPlaceOf(written, foreign.manifest),
    );
  },
  'manifest-of-other-upload': () => {
    const [written, earlier] = [three(), twin()];
    return refused(
      'The manifest of another upload of the same object in this place.',
      'manifest-forged',
      written.pointer,
      inPlaceOf(written, earlier.manifest),
    );
  },
  'manifest-other-seal-key': manifestList('The seal key is not the one in the header.', (list) => ({
    ...list,
    seal: twin().list.seal,
  })),
  'manifest-part-dropped': () => {
    const written = three();
    const list = { ...written.list, parts: written.list.parts.slice(0, 2) };
    const { pointer, manifest } = listed(at('three.bin'), list, written.bodies.slice(0, 2));
    return refused('The last part is missing from manifest and body.', 'manifest-forged', pointer, manifest);
  },
  'manifest-mac-bit': manifestList('One bit of the seal is changed.', (list) => ({
    ...list,
    mac: flipped(Buffer.from(list.mac, 'base64'), 0).toString('base64'),
  })),
  'manifest-body-cut': () => {
    const { pointer, manifest } = three();
    return refused(
      'The last byte of the body is missing.',
      'wrong-size',
      { ...pointer, body: pointer.body.subarray(0, -1) },
      manifest,
    );
  },
  'manifest-part-tag-bit': () => {
    const { pointer, manifest } = three();
    return refused(
      'One bit of the last tag is changed.',
      'authentication-failed',
      { ...pointer, body: flipped(pointer.body, -1) },
      manifest,
    );
  },
  'pointer-of-other-object': () => {
    const { pointer, manifest } = multipart(at('other.bin'), parts(300));
    const moved = {
      ...manifest,
      key: manifestKey(reservedPrefix, at('three.bin'), manifest.key.split('/').at(-1) as string),
    };
    return refused(
      'Another object in parts with its manifest, both under this name.',
      'manifest-forged',
      { ...pointer, ...at('three.bin') },
      moved,
    );
  },
  'pointer-of-other-object-renamed': () => {
    const foreign = multipart(at('other.bin'), parts(300));
    const manifest = manifestObject(at('three.bin'), foreign.list);
    return refused(
      'The same, and the names inside changed too: the seal key is bound to the name.',
      'key-refused',
      { ...foreign.pointer, ...at('three.bin') },
      manifest,
    );
  },
  'pointer-version-unknown': () => {
    const { pointer, manifest } = three();
    return refused(
      'A version of pointers that format 1 does not have.',
      'malformed-metadata',
      withMetadata(pointer, { 'svc-wrapped-dek': dekOf(pointer).replace('{"v":1,', '{"v":2,') }),
      manifest,
    );
  },
  'pointer-path': () => {
    const { pointer, manifest } = three();
    return refused(
      'An id that leads to another folder.',
      'malformed-metadata',
      withMetadata(pointer, {
        'svc-wrapped-dek': JSON.stringify({
          ...JSON.parse(dekOf(pointer)),
          manifest: '../../uploads/AAAAAAAAA',
        }),
      }),
      manifest,
    );
  },
};

function manifestBody(about: string, reason: string, change: (text: string) => string) {
  return () => {
    const { pointer, manifest } = three();
    const forged = { ...manifest, body: Buffer.from(change(manifest.body.toString())) };
    return refused(about, reason, pointer, forged);
  };
}

function manifestList(about: string, change: (list: PartList) => PartList) {
  return () => {
    const written = three();
    const forged = manifestObject(at('three.bin'), change(written.list));
    return refused(about, 'manifest-forged', written.pointer, forged);
  };
}

function inside(about: string, name: ObjectName) {
  return () => {
    const written = three();
    return refused(
      about,
      'manifest-forged',
      written.pointer,
      manifestObject(at('three.bin'), written.list, name),
    );
  };
}

const inPlaceOf = ({ manifest }: Multipart, foreign: StoredObject): StoredObject => ({
  ...foreign,
  ...{ bucket, key: manifest.key },
});
