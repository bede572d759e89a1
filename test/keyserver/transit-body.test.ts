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
} from '../../src/keyserver/transit-messages.ts';

const test = suite('transit body');
const parsed = (...inputs: Parameters<typeof transitBody>) => JSON.parse(transitBody(...inputs).toString());
const answerOf = (body: unknown, count: number) =>
  readTransitAnswer(Buffer.from(JSON.stringify(body)), 'plaintext', count, readWrapped, () => undefined);

test('one input goes plain, more go as a batch', () => {
  const [a, b] = [Buffer.from('a'), Buffer.from('b')];
  assert.equal(parsed([{ plaintext: a }]), { plaintext: 'YQ==' });
  assert.equal(parsed([{ plaintext: a }, { plaintext: b }]), {
    batch_input: [
      { plaintext: 'YQ==', reference: '0' },
      { plaintext: 'Yg==', reference: '1' },
    ],
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

test('results that say that they belong to other inputs are none, and their values are discarded', () => {
  const discarded: string[] = [];
  const results = (...references: readonly unknown[]) => {
    const items = references.map((reference, index) => ({
      plaintext: `value ${index}`,
      ...(reference !== undefined && { reference }),
    }));
    const bytes = Buffer.from(JSON.stringify({ data: { batch_results: items } }));
    const read = readTransitAnswer(
      bytes,
      'plaintext',
      items.length,
      readWrapped,
      (value) => discarded.push(value),
      7,
    );
    return read.results;
  };
  const both = [{ value: 'value 0' }, { value: 'value 1' }];
  assert.equal(results('7', '8'), both);
  assert.equal(results(undefined, undefined), both, 'an older server');
  assert.equal(results('', null), both);
  assert.equal(discarded, []);
  for (const bad of [
    ['8', '7'],
    ['7', '7'],
    ['0', '1'],
    ['7', undefined],
    ['', '8'],
    ['7', '9'],
    ['7', 8],
    ['7 ', '8'],
  ]) {
    assert.is(results(...bad), 'misplaced', String(bad));
    assert.equal(discarded.splice(0), ['value 0', 'value 1']);
  }
});

test('a refused item need not repeat its reference, and may not have that of another', () => {
  const results = (...list: readonly object[]) => answerOf({ data: { batch_results: list } }, 2).results;
  const value = { plaintext: 'x', reference: '0' };
  assert.equal(results(value, { error: 'bad' }), [{ value: 'x' }, { error: 'bad' }]);
  assert.equal(results(value, { error: 'bad', reference: '1' }), [{ value: 'x' }, { error: 'bad' }]);
  assert.is(results(value, { error: 'bad', reference: '2' }), 'misplaced');
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
