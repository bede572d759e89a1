import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { envelopeHeaders, readEnvelope } from '../../../src/objects/format/metadata.ts';
import {
  openWholeChecksum,
  readChecksum,
  sealWholeChecksum,
  serializeChecksum,
} from '../../../src/objects/format/sealed-checksums.ts';
import { checksumAlgorithms, digestLength, toldChecksum } from '../../../src/objects/s3/checksum.ts';
import { faultOf } from './fault.ts';

const test = suite('the checksum kept with an object');
const key = randomBytes(32);
const types = ['FULL_OBJECT', 'COMPOSITE'] as const;
const some = (algorithm: (typeof checksumAlgorithms)[number], type: (typeof types)[number], parts = 1) =>
  toldChecksum({ algorithm, type }, randomBytes(digestLength[algorithm]), parts);

test('every kind is read as it was sealed', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...checksumAlgorithms),
      fc.constantFrom(...types),
      fc.integer({ min: 1, max: 10_000 }),
      fc.string(),
      (algorithm, type, parts, of) => {
        const checksum = some(algorithm, type, parts);
        assert.equal(openWholeChecksum(key, of, sealWholeChecksum(key, of, checksum), parts), checksum);
      },
    ),
  );
});

test('the sealed form is stable', () => {
  const sealed = '37f9yluKulZuNw78KZdMvJLL5-AtYDjrZTczZNhRdwio';
  const opened = openWholeChecksum(Buffer.alloc(32, 1), '12', sealed, 2);
  assert.equal(opened, { algorithm: 'crc32c', type: 'COMPOSITE', text: 'AQIDBA==-2' });
});

test('under another key, for another object, or with any bit changed it is forged', () => {
  const sealed = sealWholeChecksum(key, '7', some('sha256', 'FULL_OBJECT'));
  const bytes = Buffer.from(sealed, 'base64url');
  const flipped = Array.from(bytes, (byte, at) => {
    const copy = Buffer.from(bytes);
    copy[at] = byte ^ 1;
    return copy.toString('base64url');
  });
  const attempts = [
    () => openWholeChecksum(randomBytes(32), '7', sealed, 1),
    () => openWholeChecksum(key, '8', sealed, 1),
    ...[...flipped, '', 'AAAA', sealed.slice(0, 36)].map(
      (text) => () => openWholeChecksum(key, '7', text, 1),
    ),
  ];
  for (const attempt of attempts) assert.is(faultOf(attempt), 'record-forged');
});

test('the text in the metadata is read as it was written, and nothing else is', () => {
  for (const algorithm of checksumAlgorithms)
    for (const type of types)
      for (const rest of [{}, { sealed: 'A-_z' }])
        assert.equal(readChecksum(serializeChecksum({ algorithm, type, ...rest })), {
          algorithm,
          type,
          ...rest,
        });
  assert.is(readChecksum('crc128.full.AAAA'), 'unknown');
  assert.is(readChecksum('constructor.full.AAAA'), 'unknown');
  for (const text of [
    '',
    'crc32',
    'crc32.half.AA',
    'crc32.full.',
    'crc32.full.A=',
    `crc32.full.${'A'.repeat(201)}`,
  ])
    assert.is(readChecksum(text), undefined);
});

const single = { keys: { form: 'single', dek: 'vault:v1:AAAA' }, keyName: 'svc', keyVersion: 1 } as const;

test('a single body has it in its own metadata; an unknown kind is passed over, another form refused', () => {
  const checksum = { algorithm: 'crc32', type: 'FULL_OBJECT', sealed: 'AAAA' } as const;
  const headers = envelopeHeaders({ ...single, binding: 'key', checksum });
  assert.equal(readEnvelope(headers)?.checksum, checksum);
  const withText = (text: string) => ({ ...headers, 'x-amz-meta-svc-checksum': text });
  assert.is(readEnvelope(withText('crc128.full.AAAA'))?.checksum, undefined);
  for (const text of ['crc32.full', 'crc32', ''])
    assert.is(
      faultOf(() => readEnvelope(withText(text))),
      'malformed-metadata',
    );
});

test.run();
