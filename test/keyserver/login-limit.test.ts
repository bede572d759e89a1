import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MinuteLimit } from '../../src/keyserver/session.ts';

const test = suite('minute limit');

test('lets so many through in any minute, and says when the next may', () => {
  const limit = new MinuteLimit(2);
  assert.is(limit.take(0), true);
  assert.is(limit.take(10_000), true);
  assert.is(limit.take(20_000), false);
  assert.is(limit.waitMs(20_000), 40_000);
  assert.is(limit.take(59_999), false);
  assert.is(limit.take(60_001), true);
  assert.is(limit.take(60_002), false);
  assert.is(limit.take(70_001), true);
});

test.run();
