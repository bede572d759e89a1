import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CheckFailure } from '../../../../src/plugins/validate/check.ts';
import { capped } from '../../../../src/plugins/validate/cluster/read.ts';

const test = suite('failures of thousands');

const failures = (count: number, level?: CheckFailure['level']): CheckFailure[] =>
  Array.from({ length: count }, (_, at) => ({
    subject: `a/${at}`,
    message: 'It is.',
    ...(level && { level }),
  }));

test('a few are told one by one', () => {
  assert.equal(capped(failures(200)), failures(200));
});

test('the rest is counted, as the worst of it', () => {
  const many = [...failures(300, 'warning'), ...failures(1, 'error')];
  const told = capped(many);
  assert.is(told.length, 201);
  assert.equal(told.at(-1), {
    subject: 'cluster',
    message: 'There are 101 more of the same.',
    level: 'error',
  });
  assert.is(capped(failures(201)).at(-1)?.level, undefined);
});

test.run();
