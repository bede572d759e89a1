import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isLargerThan } from '../../../src/runtime/memory.ts';

const test = suite('whether a process is larger');

test('than so many resident bytes', () => {
  assert.is(
    isLargerThan(100, () => 101),
    true,
  );
  assert.is(
    isLargerThan(100, () => 100),
    false,
  );
  assert.is(isLargerThan(0), true);
});

test('where nobody can tell, it may be', () => {
  const resident = () => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
  };
  assert.is(isLargerThan(100, resident), true);
});

test.run();
