import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FaultyBed, page, startFaultyBed } from './support/faulty-bed.ts';

export const idle = true;

const refused = suite('renewals that are refused');
let bed: FaultyBed;

refused.before(async () => {
  bed = await startFaultyBed();
});
refused.after(() => bed?.stop());

refused('renewals that are refused for half a minute are few, and the application goes on', async () => {
  const run = await bed.start({ env: { RENEWAL_INTERVAL: '1s' } });
  await run.says(/RUN one/);
  bed.requests.clear();
  bed.faults.answer(403, '{"errors":["permission denied"]}');
  await run.event('secrets.keep.failed');
  // each second without a back-off; with it the fourth comes after some twenty seconds
  await sleep(28_000);
  assert.ok(bed.requests.requests.length <= 6, `${bed.requests.requests.length} requests`);
  const { status, json } = await page(run, '/healthz');
  assert.equal([status, json.status], [200, 'degraded']);
  assert.match((await page(run, '/metrics')).text, /^svc_wrapper_degraded 1$/m);
  assert.is((await page(run, '/readyz')).status, 200);
  assert.is(run.events('application.started').length, 1);
  assert.is(run.ended, false);
});

refused.run();
