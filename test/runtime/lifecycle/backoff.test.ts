import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createBackoff } from '../../../src/runtime/lifecycle/wait.ts';

const backoffs = suite('back-off');

backoffs(
  'each delay is at most twice what the one before might be, at least half of that, and never beyond the longest',
  () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 5000 }),
        (initialMs, maxMs) => {
          const backoff = createBackoff({ initialMs, maxMs });
          for (let count = 0; count < 80; count++) {
            const most = Math.min(initialMs * 2 ** count, maxMs);
            const delay = backoff.next();
            assert.ok(delay >= most / 2 && delay <= most, `${delay} of ${most}`);
          }
        },
      ),
    );
  },
);

backoffs('delays grow and differ', () => {
  const runs = Array.from({ length: 200 }, () => {
    const backoff = createBackoff({ initialMs: 100, maxMs: 60_000 });
    return Array.from({ length: 8 }, () => backoff.next());
  });
  const mean = (index: number) => runs.reduce((sum, run) => sum + (run[index] ?? 0), 0) / runs.length;
  assert.ok(mean(7) > 4 * mean(0));
  assert.ok(new Set(runs.map(([first]) => first)).size > 100);
});

backoffs('starts small again after a reset', () => {
  const backoff = createBackoff({ initialMs: 1, maxMs: 1_000_000 });
  for (let count = 0; count < 25; count++) backoff.next();
  backoff.reset();
  assert.ok(backoff.next() <= 4);
});

backoffs.run();
