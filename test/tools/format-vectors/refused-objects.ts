import { randomBytes } from 'node:crypto';
import {
  dekOf,
  flipped,
  flippedKey,
  folder,
  type Metadata,
  one,
  other,
  refused,
  sealOf,
  three,
  withMetadata,
} from './edits.ts';
import { at, text, type Vectors } from './readable.ts';
import { type StoredObject, single, type WriteOptions, wrap } from './stored-objects.ts';

/** A single object whose body or metadata was changed. */
const edited =
  (about: string, reason: string, edit: (object: StoredObject) => StoredObject, options?: WriteOptions) =>
  () =>
    refused(about, reason, edit(one(options)));
const body = (about: string, reason: string, change: (body: Buffer) => Buffer) =>
  edited(about, reason, (object) => ({ ...object, body: change(object.body) }));
const metadata = (about: string, reason: string, change: Metadata, options?: WriteOptions) =>
  edited(about, reason, (object) => withMetadata(object, change), options);

const bodies: Vectors = {
  'body-tag-bit': body('One bit of the tag is changed.', 'authentication-failed', (it) => flipped(it, -1)),
  'body-first-tag-bit': body('The first bit of the tag is changed.', 'authentication-failed', (it) =>
    flipped(it, -16, 0x80),
  ),
  'body-nonce-bit': body('One bit of the nonce is changed.', 'authentication-failed', (it) => flipped(it, 0)),
  'body-last-nonce-bit': body('The last bit of the nonce is changed.', 'authentication-failed', (it) =>
    flipped(it, 11),
  ),
  'body-ciphertext-bit': body('One bit of the ciphertext is changed.', 'authentication-failed', (it) =>
    flipped(it, 60),
  ),
  'body-cut': body('The last byte is missing.', 'authentication-failed', (it) => it.subarray(0, -1)),
  'body-begins-late': body('The first byte is missing.', 'authentication-failed', (it) => it.subarray(1)),
  'body-without-tag': body('The tag is missing.', 'authentication-failed', (it) => it.subarray(0, -16)),
  'body-too-short': body('Shorter than nonce and tag.', 'wrong-size', (it) => it.subarray(0, 27)),
  'body-empty': body('No body at all.', 'wrong-size', (it) => it.subarray(0, 0)),
  'body-longer': body('One byte more.', 'authentication-failed', (it) => Buffer.concat([it, Buffer.of(0)])),
  'body-twice': body('The body twice.', 'authentication-failed', (it) => Buffer.concat([it, it])),
  'body-of-other': () =>
    refused('The body of another object.', 'authentication-failed', { ...one(), body: other().body }),
  'object-of-other': () =>
    refused('Another object, body and metadata, under this key.', 'key-refused', {
      ...other(),
      ...at('one.bin'),
    }),
  'object-in-other-bucket': () =>
    refused('An object that is bound to bucket and key, in another bucket.', 'key-refused', {
      ...one({ binding: 'bucket-key' }),
      bucket: 'elsewhere',
    }),
  'object-under-equal-json': () =>
    refused(
      'Another object whose key looks alike in a careless text: the names are JSON strings, so no two are equal.',
      'key-refused',
      { ...single(at('a","object"]'), text('one', 100)), ...at('a') },
    ),
};

const required = ['svc-encrypted', 'svc-wrapped-dek', 'svc-algorithm', 'svc-key-name', 'svc-key-version'];
const all = Object.fromEntries(required.map((name) => [name, undefined]));

const headers: Vectors = {
  ...Object.fromEntries(
    required.map((name) => [
      `header-missing-${name.slice(4)}`,
      metadata(`x-amz-meta-${name} is missing.`, 'partial-metadata', { [name]: undefined }),
    ]),
  ),
  'header-binding-alone': metadata(
    'Of the svc metadata, the binding alone is left.',
    'partial-metadata',
    all,
  ),
  'header-seal-alone': () =>
    refused(
      'Of the svc metadata, the seal of a folder alone is left.',
      'partial-metadata',
      withMetadata(single(at('f/'), text('', 0)), { ...all, 'svc-binding': undefined }),
    ),
  'header-encrypted-false': metadata('Encrypted is false.', 'malformed-metadata', {
    'svc-encrypted': 'false',
  }),
  'header-encrypted-case': metadata('Values are compared exactly.', 'malformed-metadata', {
    'svc-encrypted': 'True',
  }),
  'header-algorithm-unknown': metadata('An algorithm that format 1 does not have.', 'malformed-metadata', {
    'svc-algorithm': 'AES-256-GCM-SIV',
  }),
  'header-algorithm-case': metadata('Values are compared exactly.', 'malformed-metadata', {
    'svc-algorithm': 'aes-256-gcm',
  }),
  'header-key-version-other': metadata('Not the version of the wrapped key.', 'malformed-metadata', {
    'svc-key-version': '1',
  }),
  'header-key-version-form': metadata('A version with a leading zero.', 'malformed-metadata', {
    'svc-key-version': '02',
  }),
  'header-key-name-other': metadata('Another transit key than the reader has.', 'foreign-key', {
    'svc-key-name': 'other',
  }),
  'header-binding-unknown': metadata('A binding that format 1 does not have.', 'malformed-metadata', {
    'svc-binding': 'object',
  }),
  'header-binding-none': metadata('An absent header says it, never this value.', 'malformed-metadata', {
    'svc-binding': 'none',
  }),
  'header-binding-removed': metadata('The binding is taken away from a bound object.', 'key-refused', {
    'svc-binding': undefined,
  }),
  'header-binding-other': metadata(
    'Bound to the key, and said to be bound to the bucket too.',
    'key-refused',
    {
      'svc-binding': 'bucket-key',
    },
  ),
  'header-binding-added': metadata(
    'An object without binding, said to be bound.',
    'key-refused',
    { 'svc-binding': 'key' },
    { binding: 'none' },
  ),
  'dek-no-wrapped-key': metadata('No wrapped key and no JSON.', 'malformed-metadata', {
    'svc-wrapped-dek': 'AAAA',
  }),
  'dek-version-zero': metadata('There is no version 0.', 'malformed-metadata', {
    'svc-wrapped-dek': 'vault:v0:AAAA',
    'svc-key-version': '0',
  }),
  'dek-json-null': metadata('JSON, but no object.', 'malformed-metadata', { 'svc-wrapped-dek': 'null' }),
  'dek-bit': edited('One bit of the wrapped key is changed.', 'key-refused', (object) =>
    withMetadata(object, { 'svc-wrapped-dek': flippedKey(dekOf(object)) }),
  ),
  'dek-of-other': edited('The wrapped key of another object.', 'key-refused', (object) =>
    withMetadata(object, { 'svc-wrapped-dek': dekOf(other()) }),
  ),
  'dek-of-other-unbound': edited(
    'The same without binding: the key unwraps, and the body does not authenticate.',
    'authentication-failed',
    (object) => withMetadata(object, { 'svc-wrapped-dek': dekOf(other({ binding: 'none' })) }),
    { binding: 'none' },
  ),
  'dek-version-unknown': edited('A version that the transit key does not have.', 'key-refused', (object) =>
    withMetadata(object, {
      'svc-wrapped-dek': dekOf(object).replace('vault:v2:', 'vault:v3:'),
      'svc-key-version': '3',
    }),
  ),
  'dek-version-exchanged': edited('Said to be wrapped by another version.', 'key-refused', (object) =>
    withMetadata(object, {
      'svc-wrapped-dek': dekOf(object).replace('vault:v2:', 'vault:v1:'),
      'svc-key-version': '1',
    }),
  ),
  'dek-too-short': edited('What unwraps is no key of 32 bytes.', 'malformed-metadata', (object) =>
    withMetadata(object, { 'svc-wrapped-dek': wrap(randomBytes(16), object, { kind: 'object' }) }),
  ),
};

const folders: Vectors = {
  'folder-seal-tag-bit': () =>
    refused(
      'One bit of the seal is changed.',
      'authentication-failed',
      withSeal(folder(), (seal) => flipped(seal, -1)),
    ),
  'folder-seal-nonce-bit': () =>
    refused(
      'One bit of its nonce is changed.',
      'authentication-failed',
      withSeal(folder(), (seal) => flipped(seal, 0)),
    ),
  'folder-seal-short': () =>
    refused(
      'The seal is not 28 bytes long.',
      'malformed-metadata',
      withSeal(folder(), (seal) => seal.subarray(1)),
    ),
  'folder-seal-not-base64': () =>
    refused(
      'The seal is no base64.',
      'malformed-metadata',
      withMetadata(folder(), { 'svc-empty-seal': '*'.repeat(40) }),
    ),
  'folder-seal-of-other': () =>
    refused(
      'The seal of another folder.',
      'authentication-failed',
      withSeal(folder(), () => sealOf(folder('other/'))),
    ),
  'folder-of-other': () =>
    refused('Another folder, metadata and all.', 'key-refused', { ...folder('other/'), ...at('folder/') }),
  'folder-seal-removed': () =>
    refused(
      'The seal is gone, and no body is there.',
      'wrong-size',
      withMetadata(folder(), { 'svc-empty-seal': undefined }),
    ),
  'folder-with-both': () =>
    refused('A seal and a body.', 'wrong-size', { ...folder(), body: sealOf(folder()) }),
  'body-emptied-by-seal': () =>
    refused(
      'The body of an object is taken away, and the seal of a folder is put beside its key.',
      'authentication-failed',
      withMetadata(
        { ...one(), body: Buffer.alloc(0) },
        { 'svc-empty-seal': sealOf(folder()).toString('base64') },
      ),
    ),
  'seal-beside-list': () =>
    refused(
      'A seal of an empty object beside a part list.',
      'malformed-metadata',
      withMetadata(
        { ...three().inline, body: Buffer.alloc(0) },
        { 'svc-empty-seal': sealOf(folder()).toString('base64') },
      ),
    ),
};

function withSeal(object: StoredObject, change: (seal: Buffer) => Buffer): StoredObject {
  return withMetadata(object, { 'svc-empty-seal': change(sealOf(object)).toString('base64') });
}

const stripped: Vectors = {
  'stripped-all-headers': () => {
    const object = { ...one(), metadata: {} };
    return {
      about:
        'All svc metadata is gone: nothing tells the object from one that was never encrypted, so the ciphertext comes out.',
      read: at('one.bin'),
      objects: [object],
      expect: { unencrypted: object.body },
    };
  },
};

export const refusedObjects: Vectors = { ...bodies, ...headers, ...folders, ...stripped };
