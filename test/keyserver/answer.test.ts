import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  mayRetryStatus,
  namesDeadToken,
  namesTooLarge,
  serverErrors,
  summarize,
} from '../../src/keyserver/answers.ts';

const test = suite('key server answer');

test('takes error texts from any body', () => {
  assert.equal(serverErrors({ errors: ['a', 1, 'b'] }), ['a', 'b']);
  for (const body of [undefined, null, 'text', [], { errors: 'a' }, {}]) assert.equal(serverErrors(body), []);
});

test('summarizes on one bounded line without control characters', () => {
  assert.is(
    summarize(['1 error occurred:\n\t* permission denied\n\n', 'b']),
    '1 error occurred: * permission denied ; b',
  );
  assert.is(summarize(['\u001b[31mred\u0000\u202e']), '[31mred');
  assert.is(summarize(['x'.repeat(500)]).length, 200);
});

test('tells a refused token from a refused path', () => {
  assert.is(namesDeadToken(['permission denied']), true);
  assert.is(namesDeadToken(['2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n']), true);
  assert.is(namesDeadToken(['1 error occurred:\n\t* permission denied\n\n']), false);
  assert.is(namesDeadToken([]), false);
});

test('knows the answers to too large a batch', () => {
  const complex = 'refused JSON input due to high complexity: exceeded maximum number of strings';
  assert.is(namesTooLarge(400, [complex]), true);
  assert.is(namesTooLarge(413, []), true);
  assert.is(namesTooLarge(400, ['invalid ciphertext: no prefix']), false);
  assert.is(namesTooLarge(500, [complex]), false);
});

test('retries what may pass', () => {
  for (const status of [408, 412, 425, 429, 472, 473, 500, 502, 503, 504])
    assert.ok(mayRetryStatus(status), String(status));
  for (const status of [200, 307, 400, 403, 404, 413, 501])
    assert.not(mayRetryStatus(status), String(status));
});

test.run();
