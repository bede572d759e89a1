import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { EnvelopeError } from '../../../src/objects/format/cipher.ts';
import { sealMac } from '../../../src/objects/format/manifest.ts';
import {
  type Envelope,
  envelopeHeaders,
  hasEnvelope,
  readEnvelope,
} from '../../../src/objects/format/metadata.ts';
import { faultOf } from './fault.ts';

const test = suite('svc metadata');

/** Plain objects, as the code under test makes them. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { noNullPrototype: true });
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 90 })
  .map((array) => Buffer.from(array).toString('base64'));
const wrapped = (version: number) => base64.map((text) => `vault:v${version}:${text}`);
const manifest = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((array) => Buffer.from(array).toString('base64url'));
const nonce = fc
  .uint8Array({ minLength: 12, maxLength: 12 })
  .map((array) => Buffer.from(array).toString('base64'));

const partsOf = fc
  .uniqueArray(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 5 })
  .map((numbers) => numbers.sort((a, b) => a - b))
  .chain((numbers) =>
    fc.tuple(...numbers.map((n) => record({ n: fc.constant(n), dek: wrapped(1), nonce, size: fc.nat() }))),
  );

const keysOf = (version: number): fc.Arbitrary<Envelope['keys']> =>
  fc.oneof(
    record({ form: fc.constant('single' as const), dek: wrapped(version) }),
    record({ form: fc.constant('pointer' as const), manifest, seal: wrapped(version) }),
    fc.tuple(manifest, partsOf, wrapped(version)).map(([id, parts, seal]) => {
      const mac = sealMac(Buffer.alloc(32), id, parts);
      return { form: 'inline' as const, list: { manifest: id, parts, seal, mac } };
    }),
  );

const envelopes: fc.Arbitrary<Envelope> = fc.integer({ min: 1, max: 9999 }).chain((keyVersion) =>
  record({
    keys: keysOf(keyVersion),
    keyName: fc.stringMatching(/^[\w.-]{1,20}$/),
    keyVersion: fc.constant(keyVersion),
    binding: fc.constantFrom('none', 'key', 'bucket-key'),
  }),
);

test('what is written is read', () => {
  fc.assert(
    fc.property(envelopes, (envelope) => {
      assert.equal(readEnvelope({ ...envelopeHeaders(envelope), 'x-amz-meta-own': 'kept' }), envelope);
    }),
  );
});

test('the headers are those of the specification, and no sixth without binding', () => {
  const keys = { form: 'single', dek: 'vault:v3:AAAA' } as const;
  const headers = envelopeHeaders({ keys, keyName: 'svc', keyVersion: 3, binding: 'none' });
  assert.equal(headers, {
    'x-amz-meta-svc-encrypted': 'true',
    'x-amz-meta-svc-wrapped-dek': 'vault:v3:AAAA',
    'x-amz-meta-svc-algorithm': 'AES-256-GCM',
    'x-amz-meta-svc-key-name': 'svc',
    'x-amz-meta-svc-key-version': '3',
  });
});

test('the seal of an empty object stands beside a single key only, and is 28 bytes', () => {
  const envelope = {
    keyName: 'svc',
    keyVersion: 3,
    binding: 'key',
    emptySeal: Buffer.alloc(28, 1).toString('base64'),
  } as const;
  const single = envelopeHeaders({ ...envelope, keys: { form: 'single', dek: 'vault:v3:AAAA' } });
  assert.equal(readEnvelope(single), { ...envelope, keys: { form: 'single', dek: 'vault:v3:AAAA' } });
  const pointer = { form: 'pointer', manifest: 'AAAAAAAAAAAAAAAAAAAAAA', seal: 'vault:v3:AAAA' } as const;
  const bad = [
    envelopeHeaders({ ...envelope, keys: pointer }),
    ...['', 'AAAA', Buffer.alloc(29).toString('base64'), `${'-'.repeat(38)}==`].map((seal) => ({
      ...single,
      'x-amz-meta-svc-empty-seal': seal,
    })),
  ];
  for (const headers of bad)
    assert.is(
      faultOf(() => readEnvelope(headers)),
      'malformed-metadata',
    );
});

test('an object without any svc header has no envelope', () => {
  assert.is(readEnvelope({ 'x-amz-meta-own': 'x', etag: '"e"' }), undefined);
  assert.is(hasEnvelope({ 'x-amz-meta-own': 'x' }), false);
});

test('any part of the set, alone or missing, is partial', () => {
  fc.assert(
    fc.property(envelopes, fc.nat(), (envelope, which) => {
      const headers = envelopeHeaders({ ...envelope, binding: 'none' });
      const names = Object.keys(headers);
      const name = names[which % names.length] as string;
      const { [name]: value, ...rest } = headers;
      assert.is(
        faultOf(() => readEnvelope(rest)),
        'partial-metadata',
      );
      assert.is(
        faultOf(() => readEnvelope({ [name]: value })),
        'partial-metadata',
      );
      assert.ok(hasEnvelope({ [name]: value }));
    }),
  );
});

test('a svc header that is none of ours says nothing; one of ours alone is partial', () => {
  assert.is(readEnvelope({ 'x-amz-meta-svc-other': '1' }), undefined);
  for (const name of ['binding', 'encrypted', 'key-name', 'empty-seal'])
    assert.is(
      faultOf(() => readEnvelope({ 'x-amz-meta-svc-other': '1', [`x-amz-meta-svc-${name}`]: 'key' })),
      'partial-metadata',
    );
});

const good = envelopeHeaders({
  keys: { form: 'single', dek: 'vault:v3:AAAA' },
  keyName: 'svc',
  keyVersion: 3,
  binding: 'key',
});

test('a format that this build does not know is told as such', () => {
  const later = { ...good, 'x-amz-meta-svc-algorithm': 'AES-256-GCM-STREAM-1MiB' };
  assert.throws(
    () => readEnvelope(later),
    (error: EnvelopeError) =>
      error.reason === 'malformed-metadata' && /names no format that this build reads/.test(error.message),
  );
});

test('values that svc never writes are malformed', () => {
  const wrong: Record<string, string[]> = {
    encrypted: ['false', 'TRUE', ''],
    algorithm: ['AES-128-GCM', 'aes-256-gcm', ''],
    'key-version': ['4', '0', '-3', '3.0', '3x', '', ' '],
    'wrapped-dek': [
      '',
      'vault:v0:AAAA',
      'vault:v3:AA AA',
      'vault:v3:',
      'other:v3:AAAA',
      'null',
      '[]',
      '{',
      '{"v":1}',
      '{"v":2,"manifest":"AAECAwQFBgcICQoLDA0ODw","seal":"vault:v3:AAAA"}',
      '{"v":1,"manifest":"short","seal":"vault:v3:AAAA"}',
      '{"v":1,"manifest":"AAECAwQFBgcICQoLDA0ODw","seal":"x"}',
      '{"v":1,"parts":[]}',
    ],
    binding: ['', 'none', 'KEY', 'bucket'],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values)
      assert.is(
        faultOf(() => readEnvelope({ ...good, [`x-amz-meta-svc-${name}`]: value })),
        'malformed-metadata',
        `${name}: ${value}`,
      );
});

test('a repeated header is no single value', () => {
  assert.is(
    faultOf(() => readEnvelope({ ...good, 'x-amz-meta-svc-encrypted': ['true', 'true'] })),
    'partial-metadata',
  );
});

test('arbitrary values end in an envelope or in an envelope error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (value) => {
      faultOf(() => readEnvelope({ ...good, 'x-amz-meta-svc-wrapped-dek': value }));
    }),
    { numRuns: 500 },
  );
});

test.run();
