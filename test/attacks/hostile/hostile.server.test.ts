import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { repetitions } from '../../support/repetitions.ts';
import { type HostileBed, startHostileBed } from './bed.ts';
import { call, closeCalls } from './call.ts';
import { runCases, shownFailure } from './run.ts';

export const timeout = 900_000;

/** Fixed, so that a failure is one for everybody; `npm run conformance -- hostile --seed N` takes others. */
const seed = 13;
const requests = repetitions(1_000, 3_000);
/** Of those that the counts below are for. */
const share = requests / 3_000;

const test = suite('a hostile store and hostile callers');
let bed: HostileBed;

test.before(async () => {
  bed = await startHostileBed();
});
test.after(async () => {
  closeCalls(bed?.modes ?? []);
  await bed?.stop();
});

test(`${requests} requests: the right bytes or an error, and nothing else`, async () => {
  const { failures, tally } = await runCases(bed, { seed, requests });
  assert.equal(failures.map((failure) => shownFailure(seed, failure)).join('\n'), '');
  const least: readonly (readonly [string, number])[] = [
    ['requests', requests],
    ['GET 2xx', 300 * share],
    ['GET 5xx', 150 * share],
    ['PUT 2xx', 200 * share],
    ['POST 2xx', 60 * share],
    ['caller 2xx', 75 * share],
    ['caller 4xx', 240 * share],
  ];
  for (const [what, count] of least)
    assert.ok((tally.get(what) ?? 0) >= count, `${what}: ${tally.get(what)} of at least ${count}`);
});

test('the same processes still serve, and nothing in them broke', async () => {
  for (const mode of bed.modes) {
    const bucket = `case-after-${mode.name}`;
    const body = Buffer.from(mode.name);
    assert.is((await call(mode, { method: 'PUT', bucket, key: 'a', body })).status, 200, mode.name);
    assert.equal((await call(mode, { method: 'GET', bucket, key: 'a' })).body, body);
    assert.not.match(mode.proxy.output(), /"event":"crashed"/);
  }
});

test.run();
