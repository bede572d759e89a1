import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lineLimit } from '../../../../src/plugins/agent/registration/calls.ts';

const test = suite('line limit');

test('lets so many pass in each second', () => {
  let now = 0;
  const mayPass = lineLimit(2, () => now);
  const inThisSecond = () => [mayPass(), mayPass(), mayPass(), mayPass()];
  assert.equal(inThisSecond(), [true, true, false, false]);
  now = 999;
  assert.not(mayPass());
  now = 1000;
  assert.equal(inThisSecond(), [true, true, false, false]);
  now = 90_000;
  assert.ok(mayPass());
});

test.run();
