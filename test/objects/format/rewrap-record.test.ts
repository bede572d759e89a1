import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EnvelopeError } from '../../../src/objects/format/cipher.ts';
import {
  parseRewrapRecord,
  recordId,
  rewrapRecordKey,
  rewrapRecordOf,
  rewrapRecordText,
  slotOf,
} from '../../../src/objects/format/rewrap-record.ts';

const test = suite('records of rewrapped keys');

const wrapped = 'vault:v2:bm9uc2Vuc2U=';
const record = { bucket: 'box', key: 'ü "', keyName: 'svc', keys: { seal: wrapped, '7': wrapped } };

const reasonOf = (text: string): string | undefined => {
  try {
    rewrapRecordOf(text, record);
    return undefined;
  } catch (error) {
    return error instanceof EnvelopeError ? error.reason : String(error);
  }
};

test('what was written is read, for its own object alone', () => {
  const text = rewrapRecordText(record);
  assert.equal({ ...rewrapRecordOf(text, record), keys: { ...record.keys } }, record);
  assert.is(reasonOf(rewrapRecordText({ ...record, key: 'other' })), 'record-forged');
  assert.is(reasonOf(rewrapRecordText({ ...record, bucket: 'other' })), 'record-forged');
  const keys = parseRewrapRecord(text).keys;
  assert.is(keys['constructor'], undefined, 'nothing but what the text has');
});

test('any other form is refused', () => {
  const value = JSON.parse(rewrapRecordText(record));
  const changes = [
    { v: 2 },
    { keys: null },
    { keys: [1] },
    { keys: { object: 'vault:v0:x' } },
    { keyName: 1 },
    { key: null },
  ];
  for (const change of changes)
    assert.is(
      reasonOf(JSON.stringify({ ...value, ...change })),
      'malformed-metadata',
      JSON.stringify(change),
    );
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      const reason = reasonOf(text);
      return reason === 'malformed-metadata' || reason === 'record-forged';
    }),
  );
});

test('slots and ids tell keys apart', () => {
  assert.is(slotOf({ kind: 'part', upload: 'u', number: 7 }), '7');
  assert.is(slotOf({ kind: 'seal', upload: 'u' }), 'seal');
  assert.is(
    recordId({ kind: 'part', upload: 'u', number: 7 }, wrapped),
    recordId({ kind: 'seal', upload: 'u' }, 'x'),
  );
  assert.is.not(recordId({ kind: 'object' }, wrapped), recordId({ kind: 'object' }, `${wrapped}x`));
  const key = (bucket: string, name: string) => rewrapRecordKey('.svc/', { bucket, key: name }, 'i');
  assert.is.not(key('a', 'b/c'), key('a/b', 'c'));
});

test.run();
