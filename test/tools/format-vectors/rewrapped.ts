import { associatedData, type KeyPurpose, type ObjectName } from '../../../src/objects/format/metadata.ts';
import { recordId, rewrapRecordKey, rewrapRecordText } from '../../../src/objects/format/rewrap-record.ts';
import { dekOf, one, refused, three, withMetadata } from './edits.ts';
import { at, joined, parts, text, type Vector, type Vectors } from './readable.ts';
import { segmented, segmentedMultipart } from './segmented-objects.ts';
import {
  formerTransitKey,
  keyName,
  reservedPrefix,
  type StoredObject,
  transitKey,
} from './stored-objects.ts';

/** What the transit key was called that wrapped the keys in the headers; it is gone. */
const former = { 'svc-key-name': 'former' };

/** The key under the transit key at hand. */
function again(wrapped: string, name: ObjectName, purpose: KeyPurpose): string {
  const bound = Buffer.from(associatedData('key', name, purpose) ?? '');
  return transitKey.encrypt(formerTransitKey.decrypt(wrapped, bound), bound);
}

const recordOf = (
  name: ObjectName,
  id: string,
  keys: Readonly<Record<string, string>>,
  inside = name,
): StoredObject => ({
  bucket: name.bucket,
  key: rewrapRecordKey(reservedPrefix, name, id),
  metadata: {},
  body: Buffer.from(rewrapRecordText({ bucket: inside.bucket, key: inside.key, keyName, keys })),
});

function rewrapped() {
  const object = withMetadata(one({ key: formerTransitKey }), former);
  const id = recordId({ kind: 'object' }, dekOf(object));
  const keys = { object: again(dekOf(object), object, { kind: 'object' }) };
  return { object, record: (inside?: ObjectName) => recordOf(object, id, keys, inside) };
}

function segmentedRecord(name: ObjectName, inside = name) {
  const { list, pointer, manifest } = segmentedMultipart(name, parts(300, 77), { key: formerTransitKey });
  const seal = again(list.seal, name, { kind: 'seal', upload: list.manifest, format: 2 });
  const record = recordOf(name, list.manifest, { seal }, inside);
  return { object: withMetadata(pointer, former), helpers: [record, manifest] };
}

export const rewrappedReadable: Vectors = {
  'format-2-rewrapped-single': (): Vector => {
    const written = segmented(at('two-rewrapped.bin'), text('two', 100), { key: formerTransitKey });
    const object = withMetadata(written, former);
    const { bucket, key } = object;
    const purpose = { kind: 'object', format: 2 } as const;
    const record = recordOf(object, recordId(purpose, dekOf(object)), {
      object: again(dekOf(object), object, purpose),
    });
    const about = 'Format 2, the transit key is gone, a record has the DEK.';
    return {
      about,
      read: { bucket, key },
      objects: [record, object],
      expect: { plaintext: text('two', 100) },
    };
  },
  'format-2-rewrapped-pointer': (): Vector => {
    const name = at('two-rewrapped.bin');
    const { object, helpers } = segmentedRecord(name);
    const about = 'The same with parts: one key for all, and a manifest beside the record.';
    const plaintext = joined(parts(300, 77));
    return { about, read: name, objects: [...helpers, object], expect: { plaintext } };
  },
  'rewrapped-single': () => {
    const { object, record } = rewrapped();
    const { bucket, key } = object;
    const about = 'The headers name a transit key that is gone; a record has the DEK under the one at hand.';
    return {
      about,
      read: { bucket, key },
      objects: [record(), object],
      expect: { plaintext: text('one', 100) },
    };
  },
  'rewrapped-inline': () => {
    const { list, inline } = three({ key: formerTransitKey });
    const object = withMetadata(inline, former);
    const { bucket, key } = object;
    const keys = Object.fromEntries(
      list.parts.map(({ n, dek }) => [
        String(n),
        again(dek, object, { kind: 'part', upload: list.manifest, number: n }),
      ]),
    );
    const record = recordOf(object, list.manifest, {
      seal: again(list.seal, object, { kind: 'seal', upload: list.manifest }),
      ...keys,
    });
    const about = 'The same with parts, all of whose keys have one record.';
    const plaintext = joined(parts(300, 300, 300));
    return { about, read: { bucket, key }, objects: [record, object], expect: { plaintext } };
  },
};

export const rewrappedRefused: Vectors = {
  'format-2-rewrapped-of-other': () => {
    const { object, helpers } = segmentedRecord(at('two-rewrapped.bin'), at('other.bin'));
    return refused('Format 2, the record of another object.', 'record-forged', object, ...helpers);
  },
  'rewrapped-no-record': () =>
    refused('The transit key is gone, and there is no record.', 'foreign-key', rewrapped().object),
  'rewrapped-of-other': () => {
    const { object, record } = rewrapped();
    const about = 'The record of another object.';
    return refused(about, 'record-forged', object, record({ bucket: object.bucket, key: 'other.bin' }));
  },
  'rewrapped-cut': () => {
    const { object, record } = rewrapped();
    const whole = record();
    const cut = { ...whole, body: whole.body.subarray(0, -1) };
    return refused('A record that lacks its last byte.', 'malformed-metadata', object, cut);
  },
};
