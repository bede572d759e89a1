import { createServer } from 'node:https';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { linger } from '../../../../src/plugins/operator/webhook/start-webhook-server.ts';

const test = suite('lingering of the webhook');
const times = { leastMs: 3_000, quietMs: 2_000, mostMs: 12_000 };

/** How long a server lingers, in ms, that is dialled at these. */
async function lingersFor(...dials: readonly number[]): Promise<number> {
  const server = createServer().removeAllListeners('connection');
  const clock = { ms: 0 };
  await linger(server, times, {
    now: () => clock.ms,
    async sleep(ms) {
      const until = clock.ms + ms;
      for (const at of dials.filter((one) => one > clock.ms && one <= until)) {
        clock.ms = at;
        server.emit('connection');
      }
      clock.ms = until;
    },
  });
  return clock.ms;
}

test('takes its least time where nobody dials, or only at first', async () => {
  assert.is(await lingersFor(), 3_000);
  assert.is(await lingersFor(10, 1_000), 3_000);
});

test('goes on until it has not been dialled for a while', async () => {
  assert.is(await lingersFor(1_500), 3_500);
  assert.is(await lingersFor(2_900, 4_800, 6_000), 8_000);
  assert.is(await lingersFor(2_900, 5_000), 4_900, 'one that dials later finds it gone');
});

test('ends at last where it is dialled for ever', async () => {
  assert.is(await lingersFor(...Array.from({ length: 100 }, (_, second) => second * 1_000)), 12_000);
});

test.run();
