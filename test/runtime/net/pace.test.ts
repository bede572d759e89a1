import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Pace } from '../../../src/runtime/net/pace.ts';

const test = suite('how fast something moves');

test('slow is what has moved too few bytes for the time, since it last moved enough', async () => {
  const begun = performance.now();
  const pace = new Pace({ bytes: 10, ms: 20 }, 100);
  assert.is(pace.slowSince(100), undefined, 'too early to say');
  await sleep(30);
  const since = pace.slowSince(109) as number;
  assert.ok(since >= begun && since <= performance.now() - 20, 'since it began');
  assert.is(pace.slowSince(110), undefined, 'enough');
  await sleep(30);
  assert.ok((pace.slowSince(119) as number) > since);
});

test.run();
