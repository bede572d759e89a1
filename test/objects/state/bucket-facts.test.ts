import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createBucketFacts } from '../../../src/objects/state/bucket-facts.ts';
import type { Upstream } from '../../../src/objects/upstream/upstream.ts';

const test = suite('what buckets keep');

test('a store that is silent for one question holds nobody for long, and is asked anew', async () => {
  let asked = 0;
  const silent: Pick<Upstream, 'send'> = {
    send: ({ signal }) => {
      asked++;
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    },
  };
  // the timer of a signal keeps no process alive
  const alive = setInterval(() => undefined, 1_000);
  const facts = createBucketFacts(silent as Upstream, Date.now, 20);
  const refusals = await Promise.all(
    [1, 2].map(() =>
      facts.keepsVersions('bucket').then(
        () => 'answered',
        (error) => error.code,
      ),
    ),
  );
  assert.equal(refusals, ['ServiceUnavailable', 'ServiceUnavailable']);
  assert.is(asked, 1);
  void facts.keepsVersions('bucket').catch(() => undefined);
  assert.is(asked, 2);
  clearInterval(alive);
});

test.run();
