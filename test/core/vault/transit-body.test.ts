import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  base64Length,
  decodeBase64,
  decodedLength,
  encodeBase64,
  readKey,
  readTransitAnswer,
  readWrapped,
  transitBody,
} from '../../../src/core/vault/transit-messages.ts';

const test = suite('transit body');
const parsed = (...inputs: Parameters<typeof transitBody>) => JSON.parse(transitBody(...inputs).toString());
const answerOf = (body: unknown, count: number) =>
  readTransitAnswer(Buffer.from(JSON.stringify(body)), 'plaintext', count, readWrapped, () => undefined);

test('one input goes plain, more go as a batch', () => {
  const [a, b] = [Buffer.from('a'), Buffer.from('b')];
  assert.equal(parsed([{ plaintext: a }]), { plaintext: 'YQ==' });
  assert.equal(parsed([{ plaintext: a }, { plaintext: b }]), {
    batch_input: [{ plaintext: 'YQ==' }, { plaintext: 'Yg==' }],
  });
  assert.equal(parsed([{ ciphertext: 'vault:v1:AAAA' }]), { ciphertext: 'vault:v1:AAAA' });
});

test('associated data is UTF-8 in base64, and absent where there is none', () => {
  const plaintext = Buffer.from('a');
  assert.is(parsed([{ plaintext, associatedData: 'é' }]).associated_data, 'w6k=');
  assert.is(parsed([{ plaintext, associatedData: '' }]).associated_data, '');
  assert.not.ok('associated_data' in parsed([{ plaintext }]));
});

test('reads values and errors of both shapes', () => {
  assert.equal(answerOf({ data: { plaintext: 'x' } }, 1), { errors: [], results: [{ value: 'x' }] });
  const batch = { data: { batch_results: [{ plaintext: 'x' }, { plaintext: '', error: 'bad' }] } };
  assert.equal(answerOf(batch, 2).results, [{ value: 'x' }, { error: 'bad' }]);
  assert.equal(answerOf({ errors: ['one', 2, 'three'] }, 1).errors, ['one', 'three']);
});

test('answers nothing for another shape, as with too few or too many results', () => {
  const results = (list: unknown) => answerOf({ data: { batch_results: list } }, 2).results;
  for (const list of [
    [],
    [{ plaintext: 'x' }],
    [{ plaintext: 'x' }, {}],
    [{ plaintext: 'x' }, null],
    'x',
    undefined,
  ]) {
    assert.is(results(list), undefined);
  }
  assert.is(results([{ plaintext: 'x' }, { plaintext: 'y' }, { plaintext: 'z' }]), undefined);
  for (const body of [null, {}, { data: null }, { data: { plaintext: 1 } }, 'text', [1]]) {
    assert.is(answerOf(body, 1).results, undefined);
  }
});

test('base64 of any bytes is what Node makes of them, and comes back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (bytes) => {
      const text = Buffer.alloc(base64Length(bytes.length));
      assert.is(encodeBase64(bytes, text, 0), text.length);
      assert.is(text.toString(), Buffer.from(bytes).toString('base64'));
      const back = new Uint8Array(decodedLength(text, text.length) ?? 0);
      decodeBase64(text, back);
      assert.equal([...back], [...bytes]);
    }),
  );
});

test('only canonical base64 is a key', () => {
  const key = (text: string) => {
    const json = Buffer.from(`"${text}"`);
    return readKey(json, { kind: 'string', start: 0, end: json.length })?.toString('hex');
  };
  assert.is(key('AAEC'), '000102');
  assert.is(key('\\u0041AEC'), '000102');
  assert.is(key('\\/\\/8='), 'ffff');
  for (const text of [
    'A',
    'AA',
    'AAA',
    'AAAA=',
    'AB==',
    'AAB=',
    '====',
    'A===',
    'AA=A',
    'AA-_',
    'AA A',
    'é==',
  ])
    assert.is(key(text), undefined, text);
});

test.run();
