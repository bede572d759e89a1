import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { patient } from '../../support/patience.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type FaultyBed, page, startFaultyBed } from './support/faulty-bed.ts';

export const idle = true;

const keyServer = suite('the wrapper and its key server');
let bed: FaultyBed;

keyServer.before(async () => {
  bed = await startFaultyBed();
  for (const name of ['a', 'b', 'c', 'd']) await bed.kv.put(`many/${name}`, { [name]: name });
});
keyServer.after.each(() => bed?.clear());
keyServer.after(() => bed?.stop());

keyServer('is logged in to once, and asked once for each path and mount', async () => {
  const kubernetes = await bed.bao.enableKubernetesAuth({ policies: [bed.kv.policy], role: 'app' });
  const paths = ['a', 'b', 'c', 'd'].map((name) => `secret/many/${name}`);
  const run = await bed.start({ paths, vault: { addr: bed.requests.url, kubernetes } });
  await run.says(/RUN/);
  assert.is(bed.requests.matching('POST', /^\/v1\/auth\/kubernetes\/login$/).length, 1);
  assert.is(bed.requests.matching('GET', /^\/v1\/secret\/data\/many\//).length, 4);
  assert.ok(bed.requests.matching('GET', /^\/v1\/sys\/internal\/ui\/mounts\//).length <= 4);
});

keyServer('may be sealed while the wrapper starts: the application is up soon after', async () => {
  const vault = { addr: bed.requests.url, token: await bed.kv.token() };
  await bed.bao.seal();
  const run = await bed.start({ vault });
  assert.is((await run.event('secrets.waiting'))['code'] ?? 'VAULT_UNAVAILABLE', 'VAULT_UNAVAILABLE');
  assert.is((await page(run, '/healthz')).status, 503);
  assert.is((await page(run, '/readyz')).status, 503);
  await sleep(4_000);
  await bed.bao.unseal();
  const unsealed = Date.now();
  const started = await run.event('application.started');
  const late = Date.parse(started['time']) - unsealed;
  assert.ok(late < patient(5_000), `${late} ms after the unseal`);
  assert.is((await page(run, '/healthz')).status, 200);
  assert.is((await page(run, '/readyz')).status, 200);
});

keyServer('may refuse connections, hang, cut and answer 429 and 503 while the wrapper starts', async () => {
  const troubles: (() => unknown)[] = [
    () => bed.faults.refuse(),
    () => bed.faults.cutAfter(40, 'to-client', 'reset'),
    () => bed.faults.answer(429, '{"errors":["slow down"]}'),
    () => bed.faults.answer(503, '{"errors":["sealed"]}'),
  ];
  for (const trouble of troubles) {
    await trouble();
    const run = await bed.start();
    await run.event('secrets.waiting');
    await bed.faults.heal();
    await run.says(/RUN one/);
  }
});

keyServer('may be away for as long as it likes: the application keeps running', async () => {
  const run = await bed.start({ env: { RENEWAL_INTERVAL: '1s', SVC_ROTATION: 'restart' } });
  await run.says(/RUN one/);
  await bed.faults.refuse();
  await waitFor('degraded', async () => (await page(run, '/healthz')).json.status === 'degraded');
  await bed.kv.put('app', { KEY: 'two' });
  await bed.faults.heal();
  await run.says(/RUN two/);
  await bed.kv.put('app', { KEY: 'one' });
});

keyServer('logs in again when its token has been revoked', async () => {
  const kubernetes = await bed.bao.enableKubernetesAuth({
    policies: [bed.kv.policy],
    role: 'again',
    mount: 'kube2',
  });
  const run = await bed.start({
    vault: { addr: bed.requests.url, kubernetes },
    env: { RENEWAL_INTERVAL: '1s' },
  });
  await run.says(/RUN one/);
  const accessors = (await bed.bao.request('LIST', 'auth/token/accessors')).json.data.keys as string[];
  for (const accessor of accessors) {
    const { json } = await bed.bao.request('POST', 'auth/token/lookup-accessor', { accessor });
    if (json?.data?.path === 'auth/kube2/login')
      await bed.bao.request('POST', 'auth/token/revoke-accessor', { accessor });
  }
  const login = /^\/v1\/auth\/kube2\/login$/;
  await waitFor('a second login', () => bed.requests.matching('POST', login).length >= 2);
  await waitFor('health', async () => (await page(run, '/healthz')).json.status === 'ok');
});

keyServer('keeps a token alive beyond its first lease', async () => {
  const token = await bed.kv.token({ ttl: '6s' });
  const run = await bed.start({ vault: { addr: bed.requests.url, token } });
  await run.says(/RUN one/);
  await sleep(9_000);
  assert.is((await bed.bao.request('GET', 'auth/token/lookup-self', undefined, token)).status, 200);
  assert.is((await page(run, '/healthz')).json.status, 'ok');
});

keyServer.run();
