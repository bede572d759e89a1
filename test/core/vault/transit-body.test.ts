import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { associatedData, transitBody, transitResults } from '../../../src/core/vault/transit-body.ts';

const test = suite('transit body');

test('one input goes plain, more go as a batch', () => {
  assert.equal(transitBody([{ plaintext: 'a' }]), { plaintext: 'a' });
  assert.equal(transitBody([{ plaintext: 'a' }, { plaintext: 'b' }]), {
    batch_input: [{ plaintext: 'a' }, { plaintext: 'b' }],
  });
});

test('associated data is UTF-8 in base64, and absent where there is none', () => {
  assert.equal(associatedData('é'), { associated_data: 'w6k=' });
  assert.equal(associatedData(''), { associated_data: '' });
  assert.equal(associatedData(undefined), {});
});

test('reads values and errors of both shapes', () => {
  assert.equal(transitResults({ data: { plaintext: 'x' } }, 'plaintext', 1), [{ value: 'x' }]);
  const batch = { data: { batch_results: [{ plaintext: 'x' }, { plaintext: '', error: 'bad' }] } };
  assert.equal(transitResults(batch, 'plaintext', 2), [{ value: 'x' }, { error: 'bad' }]);
});

test('answers nothing for another shape, as with too few or too many results', () => {
  const results = (list: unknown) => transitResults({ data: { batch_results: list } }, 'plaintext', 2);
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
  for (const body of [undefined, null, {}, { data: null }, { data: { plaintext: 1 } }]) {
    assert.is(transitResults(body, 'plaintext', 1), undefined);
  }
});

test.run();
