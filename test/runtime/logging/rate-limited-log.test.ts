import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LogFields, Logger } from '../../../src/runtime/logging/logger.ts';
import { RateLimitedLog } from '../../../src/runtime/logging/rate-limited-log.ts';

const test = suite('a log with a limited rate');

/** The times at which a line was written, and how many it says were left out. */
function written(rate: { burst: number; everyMs: number }, times: readonly number[]): unknown[] {
  let now = 0;
  const lines: unknown[] = [];
  const take = (_event: string, fields: LogFields = {}) => void lines.push([now, fields['leftOut']]);
  const log = new RateLimitedLog({ info: take, warn: take } as Logger, rate, () => now);
  for (now of times) log.warn('too.many', (leftOut) => ({ leftOut }));
  return lines;
}

test('writes at once and then one in each period, with how many it left out', () => {
  assert.equal(written({ burst: 1, everyMs: 60_000 }, [5, 6, 60_004, 60_005, 60_006]), [
    [5, 0],
    [60_005, 2],
  ]);
});

test('writes a burst, which is there again after a pause', () => {
  const rate = { burst: 2, everyMs: 10 };
  assert.equal(written(rate, [0, 0, 0, 9, 10, 10, 100, 100, 100]), [
    [0, 0],
    [0, 0],
    [10, 2],
    [100, 1],
    [100, 0],
  ]);
});

test('makes no fields for a line that is left out', () => {
  const log = new RateLimitedLog({ info: () => {} } as unknown as Logger, { burst: 1, everyMs: 10 }, () => 0);
  log.info('one', () => ({}));
  log.info('two', () => assert.unreachable() as never);
});

test.run();
