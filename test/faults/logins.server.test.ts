import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../support/http.ts';
import { rawHttp } from '../support/raw-http.ts';
import { rawState } from '../support/raw-state.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { waitFor } from '../support/wait-for.ts';

export const idle = true;

const test = suite('tokens that end');
let rig: Rig;
const body = randomBytes(2000);

test.before(async () => {
  rig = await startRig();
  const first = await rig.proxy();
  await first.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key: 'kept', Body: body }));
});
test.after(() => rig?.stop());

const get = (via: RiggedProxy) => rawHttp(`${via.url}/${rig.bucket}/kept`);
const put = (via: RiggedProxy, key: string) =>
  rawHttp(`${via.url}/${rig.bucket}/${key}`, { method: 'PUT', body });

/** The accessors of the tokens that OpenBao knows. */
async function accessors(): Promise<string[]> {
  return (await rig.bao.request('LIST', 'auth/token/accessors')).json.data.keys;
}

test('kubernetes: tokens of some seconds, continuous traffic through several logins, no error', async () => {
  const kubernetes = await rig.bao.enableKubernetesAuth({ ttl: '3s' });
  const proxy = await rig.proxy({ vault: { addr: rig.toVault.url, kubernetes } });
  const begun = kubernetes.reviews();
  const outcomes = new Map<string, number>();
  let running = true;
  const traffic = async (id: number) => {
    while (running) {
      const [read, written] = [await get(proxy), await put(proxy, `traffic-${id}`)];
      for (const { status } of [read, written])
        outcomes.set(`${status}`, (outcomes.get(`${status}`) ?? 0) + 1);
      if (!read.body.equals(body)) outcomes.set('wrong', 1);
      await sleep(100); // dozens of requests for each login
    }
  };
  const clients = [traffic(1), traffic(2)];
  try {
    await waitFor('four more logins', () => kubernetes.reviews() >= begun + 4);
  } finally {
    running = false;
    await Promise.all(clients);
  }
  // its logins would be counted by the next test
  await proxy.stop();
  assert.equal([...outcomes.keys()], ['200']);
});

test('kubernetes: a revoked token is replaced at once, without an error to the caller', async () => {
  const kubernetes = await rig.bao.enableKubernetesAuth({ mount: 'revoked' });
  const before = await accessors();
  const proxy = await rig.proxy({ vault: { addr: rig.toVault.url, kubernetes } });
  assert.is((await get(proxy)).status, 200);
  const fresh = (await accessors()).filter((accessor) => !before.includes(accessor));
  for (const accessor of fresh) await rig.bao.request('POST', 'auth/token/revoke-accessor', { accessor });
  assert.is(fresh.length, 1);
  assert.is((await get(proxy)).status, 200);
  assert.is((await put(proxy, 'after-revocation')).status, 200);
});

test('kubernetes: while the login is refused it is not ready; a fresh JWT brings it back', async () => {
  const kubernetes = await rig.bao.enableKubernetesAuth({ mount: 'refused' });
  kubernetes.revokeJwt();
  const proxy = await rig.proxy({ vault: { addr: rig.toVault.url, kubernetes }, waitReady: false });
  await waitFor('the refusal in the log', () => proxy.output().includes('vault.login.failed'));
  assert.is((await http(`${proxy.health}/readyz`)).status, 503);
  assert.ok((await get(proxy)).status >= 500);
  kubernetes.issue();
  await waitFor('readiness', async () => (await http(`${proxy.health}/readyz`)).status === 200);
  assert.equal((await get(proxy)).body, body);
});

test('token file: a revoked token is replaced by what the file says', async () => {
  const folder = temporaryFolder('token-file');
  const tokenFile = join(folder.path, 'token');
  const [first, second] = [await rig.bao.policyToken(), await rig.bao.policyToken()];
  writeFileSync(tokenFile, `${first}\n`);
  const proxy = await rig.proxy({ vault: { addr: rig.toVault.url, tokenFile } });
  assert.is((await get(proxy)).status, 200);
  writeFileSync(tokenFile, second);
  await rig.bao.revoke(first);
  assert.is((await get(proxy)).status, 200);
  await rig.bao.revoke(second);
  const refused = await get(proxy);
  assert.ok(refused.status >= 500, `${refused.status}`);
  await waitFor('unreadiness', async () => (await http(`${proxy.health}/readyz`)).status === 503);
  writeFileSync(tokenFile, await rig.bao.policyToken());
  await waitFor('recovery', async () => (await get(proxy)).status === 200);
  await folder.remove();
});

test('token: a revoked one that nothing can replace stops everything, and nothing is stored', async () => {
  const own = await rig.bao.policyToken();
  const proxy = await rig.proxy({ vault: { addr: rig.toVault.url, token: own } });
  assert.is((await get(proxy)).status, 200);
  await rig.bao.revoke(own);
  const before = await rawState(rig);
  for (const { status } of [await get(proxy), await put(proxy, 'revoked'), await put(proxy, 'kept')])
    assert.ok(status >= 500, `${status}`);
  assert.equal(await rawState(rig), before);
  await waitFor('unreadiness', async () => (await http(`${proxy.health}/readyz`)).status === 503);
});

test('a policy that lacks a path: 500, and the log names what is missing', async () => {
  const policy = 'path "transit/encrypt/svc" { capabilities = ["update"] }';
  await rig.bao.request('PUT', 'sys/policies/acl/half', { policy });
  const created = await rig.bao.request('POST', 'auth/token/create', {
    policies: ['half'],
    no_default_policy: true,
  });
  const vault = { addr: rig.toVault.url, token: created.json.auth.client_token };
  const proxy = await rig.proxy({ vault, waitReady: false });
  const written = await put(proxy, 'half');
  assert.is(written.status, 200, written.code);
  const refused = await get(proxy);
  assert.is(`${refused.status} ${refused.code}`, '500 InternalError');
  assert.match(proxy.output(), /"event":"proxy.vault.denied".*"path":"transit\/decrypt\/svc"/);
  assert.not.match(refused.body.toString(), 'transit/decrypt');
});

test.run();
