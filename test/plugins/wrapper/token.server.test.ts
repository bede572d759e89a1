import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../support/http.ts';
import type { WrapperRun } from '../../support/svc-wrapper.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Bed, shown, startBed } from './support/bed.ts';

export const idle = true;

const test = suite('the token of the wrapper');
let bed: Bed;

test.before(async () => {
  bed = await startBed();
  await bed.kv.put('app', { KEY: 'one' });
});
test.after.each(() => bed?.endRuns());
test.after(() => bed?.stop());

const renewing = 'path "auth/token/renew-self" { capabilities = ["update"] }\n';
const reading = 'path "secret/data/*" { capabilities = ["read"] }\n';

/** A token that may do what the policy says and nothing else: not look itself up, above all. */
async function tokenWith(policy: string, ttl: string, more: object = {}): Promise<string> {
  const name = `self-${Math.random().toString(36).slice(2)}`;
  await bed.bao.request('PUT', `sys/policies/acl/${name}`, { policy });
  const body = { policies: [name], no_default_policy: true, ttl, ...more };
  return (await bed.bao.request('POST', 'auth/token/create', body)).json.auth.client_token;
}

async function start(token: string, env: Record<string, string> = {}): Promise<WrapperRun> {
  const vault = { addr: bed.bao.url, caFile: bed.bao.caFile, token };
  const run = await bed.run({ vault, env });
  await shown(run);
  return run;
}

async function seen(run: WrapperRun) {
  const health = await run.health();
  const [healthz, readyz, metrics] = await Promise.all(
    ['/healthz', '/readyz', '/metrics'].map((path) => http(`${health}${path}`)),
  );
  const metric = (name: string) =>
    new RegExp(`^svc_wrapper_${name} +(\\S+)$`, 'm').exec(metrics?.text ?? '')?.[1];
  return {
    degraded: healthz?.json.degraded,
    left: readyz?.json.token_seconds_left,
    metricLeft: metric('token_seconds_left'),
    degradedMetric: metric('degraded'),
    events: Object.fromEntries(
      [
        ...(metrics?.text ?? '').matchAll(/^svc_wrapper_token_renewals_total\{result="([\w-]+)"\} (\d+)$/gm),
      ].map(([, result = '', count]) => [result, Number(count)]),
    ),
  };
}

test('that may renew but not look itself up is renewed in time, and its end is told', async () => {
  const token = await tokenWith(reading + renewing, '8s', { period: '8s' });
  const began = Date.now();
  const run = await start(token, { SVC_ROTATION: 'sighup' });
  await waitFor('three renewals', async () => ((await seen(run)).events['renewed'] ?? 0) >= 3);
  await waitFor('twice the life of the token', () => Date.now() - began > 17_000);
  const { degraded, events, left, metricLeft } = await seen(run);
  assert.equal([degraded, Object.keys(events)], [undefined, ['renewed']]);
  assert.ok(left >= 0 && left <= 8 && Number(metricLeft) <= 8, `${left} ${metricLeft}`);
  await bed.kv.put('app', { KEY: 'two' });
  assert.is((await shown(run, 2)).descriptor['KEY'], 'two');
  await bed.kv.put('app', { KEY: 'one' });
});

test('that may neither renew nor look itself up: nothing is counted that did not happen, health tells', async () => {
  const run = await start(await tokenWith(reading, '1h'), { RENEWAL_INTERVAL: '1s' });
  await waitFor('attempts', async () => ((await seen(run)).events['kept'] ?? 0) >= 2);
  const { degraded, events, left, metricLeft, degradedMetric } = await seen(run);
  assert.match(degraded.token, 'neither looked up nor renewed');
  assert.equal(
    [Object.keys(events), left, metricLeft, degradedMetric],
    [['kept'], 'unknown', undefined, '1'],
  );
});

test('that cannot be renewed: its end comes nearer, and is told before it is there', async () => {
  const own = `${reading}path "auth/token/lookup-self" { capabilities = ["read"] }\n`;
  const token = await tokenWith(own, '15s', { renewable: false });
  const run = await start(token, { RENEWAL_INTERVAL: '1s' });
  const first = await seen(run);
  assert.equal([first.degraded, first.left > 4 && first.left <= 15], [undefined, true]);
  await waitFor('the warning', async () => (await seen(run)).degraded?.token);
  const last = await seen(run);
  assert.match(last.degraded.token, /ends in \d s, and nothing renews or replaces it/);
  assert.equal([Object.keys(last.events), last.left < 6, last.degradedMetric], [['kept'], true, '1']);
});

test('without an end: no time is told', async () => {
  const { left, metricLeft } = await seen(await start(bed.bao.rootToken));
  assert.equal([left, metricLeft], ['no end', undefined]);
});

test.run();
