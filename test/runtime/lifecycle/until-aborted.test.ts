import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { untilAborted } from '../../../src/runtime/lifecycle/wait.ts';

const test = suite('waiting for a signal');

test('ends with the abort, and not before', async () => {
  const controller = new AbortController();
  let ended = false;
  const waiting = untilAborted(controller.signal).then(() => {
    ended = true;
  });
  await Promise.resolve();
  assert.is(ended, false);
  controller.abort();
  await waiting;
  assert.is(ended, true);
});

test('ends at once where it was aborted before', () => untilAborted(AbortSignal.abort()));

test.run();
