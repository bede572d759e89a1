import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SecretClient } from '../../../src/keyserver/secret-client/contract.ts';
import { createSecretClient } from '../../../src/keyserver/secret-client/create-secret-client.ts';
import type { VaultAuth, VaultConfig } from '../../../src/keyserver/settings.ts';
import { createSecretMemory } from '../../../src/runtime/native/secret-memory.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { type MtlsBroker, startMtlsBroker } from '../../support/mtls-broker.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import type { FaultProxy, KubernetesAuth, OpenBao } from '../../support/types.ts';
import { vaultFailure } from '../rejection.ts';
import { patient, readTexts, textsOf } from './client-fixture.ts';

type Endpoint = VaultConfig['endpoint'];

interface Context {
  bao: OpenBao;
  kubernetes: KubernetesAuth;
  broker: MtlsBroker;
  between: FaultProxy;
  folder: TemporaryFolder;
  open: SecretClient[];
  connect: (auth: VaultAuth, endpoint?: Partial<Endpoint>) => SecretClient;
  tokenFor: (policies: string[], options?: object) => Promise<string>;
}

const test = suite<Context>('client for secrets on OpenBao');

const memory = createSecretMemory({ requireMemfdSecret: false, requireLock: false });
const secret = randomBytes(24).toString('base64');
const root: VaultAuth = { method: 'token', token: 'root' };

test.before(async (context) => {
  const bao = await startOpenBao({ tls: true });
  context.bao = bao;
  context.folder = temporaryFolder('secret-client');
  context.between = await startFaultProxy(bao.url);
  context.broker = await startMtlsBroker(bao.url, bao.caFile);
  context.open = [];
  context.connect = (auth, endpoint = {}) => {
    const usual = { url: new URL(bao.url), skipVerify: false, caFiles: [bao.caFile ?? ''] };
    const whole = { ...usual, caPath: undefined, client: undefined, ...endpoint };
    const client = createSecretClient({ config: { endpoint: whole, auth, namespace: undefined }, memory });
    context.open.push(client);
    return client;
  };
  context.tokenFor = async (policies, options = {}) => {
    const body = { policies, no_default_policy: true, ttl: '1h', ...options };
    return (await bao.request('POST', 'auth/token/create', body)).json.auth.client_token;
  };
  await bao.request('POST', 'sys/mounts/one', { type: 'kv', options: { version: '1' } });
  await bao.request('POST', 'sys/mounts/team/kv', { type: 'kv', options: { version: '2' } });
  await bao.request('POST', 'sys/mounts/transit', { type: 'transit' });
  await bao.request('POST', 'secret/data/app', { data: { password: secret } });
  await bao.request('POST', 'secret/data/app', { data: { password: secret, user: 'app' } });
  await bao.request('POST', 'team/kv/data/deep/app', { data: { password: secret } });
  await bao.request('POST', 'one/app', { password: secret });
  const policy = ['secret/data/app', 'one/app'].map((path) => `path "${path}" { capabilities = ["read"] }`);
  await bao.request('PUT', 'sys/policies/acl/app', { policy: policy.join('\n') });
  const own =
    'path "auth/token/renew-self" { capabilities = ["update"] }\npath "auth/token/lookup-self" { capabilities = ["read"] }';
  await bao.request('PUT', 'sys/policies/acl/own', { policy: own });
  context.kubernetes = await bao.enableKubernetesAuth({ role: 'app', policies: ['app', 'own'] });
});

test.after.each(({ open }) => {
  for (const client of open.splice(0)) client.close();
});

test.after(async ({ bao, broker, between, folder }) => {
  await Promise.all([broker.stop(), between.stop()]);
  await bao.stop();
  await folder.remove();
});

const kubernetesAuth = ({ role, mountPath, jwtPath }: KubernetesAuth): VaultAuth => ({
  method: 'kubernetes',
  role,
  mountPath,
  serviceAccountTokenPath: jwtPath,
});

test('kubernetes login, renewal, both versions of the store', async ({ connect, kubernetes }) => {
  const client = connect(kubernetesAuth(kubernetes));
  assert.equal(await client.logIn(patient()), { leaseSeconds: 3600, renewable: true, replaced: true });
  for (const path of ['secret/app', 'secret/data/app', '/v1/secret/data/app/']) {
    const document = await client.read(path, patient());
    assert.equal([document.kvVersion, document.version], [2, 2]);
    assert.equal(textsOf(document), { password: secret, user: 'app' });
    document.release();
  }
  assert.equal(await readTexts(client, 'one/app'), { password: secret });
  const { leaseSeconds, renewable } = await client.renew(patient());
  assert.ok(leaseSeconds > 3500 && leaseSeconds <= 3600 && renewable);
});

test('a store whose path has several segments', async ({ connect }) => {
  const client = connect(root);
  assert.equal(await readTexts(client, 'team/kv/deep/app'), { password: secret });
  assert.equal(await readTexts(client, 'team/kv/data/deep/app'), { password: secret });
});

test('a given token, with and without the right to look itself up', async ({ connect, tokenFor }) => {
  assert.equal(await connect(root).logIn(patient()), { leaseSeconds: 0, renewable: false, replaced: false });
  const known = connect({ method: 'token', token: await tokenFor(['own', 'app']) });
  const lease = await known.logIn(patient());
  const { leaseSeconds = 0 } = lease;
  assert.ok(leaseSeconds > 3590 && leaseSeconds <= 3600 && lease.renewable);
  assert.is((await known.renew(patient())).leaseSeconds, 3600);
  const silent = connect({ method: 'token', token: await tokenFor(['app']) });
  const [unknown, found] = await Promise.all([silent.logIn(patient()), readTexts(silent, 'secret/app')]);
  assert.equal(unknown, { leaseSeconds: undefined, renewable: true, replaced: false });
  assert.is(found['password'], secret);
  assert.match((await vaultFailure(silent.renew(patient()), 'denied')).message, /auth\/token\/renew-self/);
});

test('a token that nears its longest life', async ({ connect, tokenFor }) => {
  const token = await tokenFor(['own'], { ttl: '30m', explicit_max_ttl: '31m' });
  const client = connect({ method: 'token', token });
  await client.logIn(patient());
  assert.is((await client.renew(patient())).leaseSeconds, 1800);
  const last = connect({
    method: 'token',
    token: await tokenFor(['own'], { ttl: '30m', explicit_max_ttl: '30m' }),
  });
  await last.logIn(patient());
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  assert.ok((await last.renew(patient())).leaseSeconds < 1800, 'the server gives less than before');
});

test('a token file that is replaced', async ({ connect, tokenFor, bao, folder }) => {
  const path = join(folder.path, 'token');
  const first = await tokenFor(['app']);
  writeFileSync(path, `${first}\n`);
  const client = connect({ method: 'token-file', path });
  await client.logIn(patient());
  assert.is((await readTexts(client, 'secret/app'))['password'], secret);
  await bao.revoke(first);
  const dead = await vaultFailure(client.read('secret/app', patient()), 'denied');
  assert.match(dead.message, /does not accept the token/);
  await vaultFailure(client.logIn(patient()), 'denied');
  writeFileSync(path, await tokenFor(['app']));
  await client.logIn(patient());
  assert.is((await readTexts(client, 'secret/app'))['password'], secret);
});

test('through a broker that asks for a client certificate', async ({ connect, kubernetes, broker }) => {
  const { caFile, certFile, keyFile } = broker;
  const endpoint = { url: new URL(broker.url), caFiles: [caFile] };
  const client = connect(kubernetesAuth(kubernetes), { ...endpoint, client: { certFile, keyFile } });
  const login = client.logIn(patient());
  assert.is((await readTexts(client, 'secret/app'))['password'], secret);
  await login;
  assert.equal(broker.requests, [
    { method: 'POST', path: '/v1/auth/kubernetes/login', client: 'app' },
    { method: 'GET', path: '/v1/sys/internal/ui/mounts/secret/app', client: 'app' },
    { method: 'GET', path: '/v1/secret/data/app', client: 'app' },
  ]);
  await vaultFailure(connect(kubernetesAuth(kubernetes), endpoint).logIn(patient()), 'unavailable');
  assert.is(broker.requests.length, 3);
});

test('refusals name the path, never a value', async ({ connect, kubernetes, bao }) => {
  const client = connect(kubernetesAuth(kubernetes));
  await client.logIn(patient());
  const failure = async (path: string) =>
    (await vaultFailure(client.read(path, patient()), 'denied')).message;
  assert.is(await failure('secret/other'), 'The key server refuses read on secret/data/other');
  assert.is(await failure('team/kv/app'), 'The key server refuses read on team/kv/app, or has no such store');
  assert.match(await failure('nowhere/app'), /nowhere\/app, or has no such store/);
  const all = connect(root);
  const absent = async (path: string) => (await vaultFailure(all.read(path, patient()), 'not-found')).message;
  assert.is(await absent('secret/absent'), 'The key server has no secret at secret/data/absent');
  assert.is(await absent('one/absent'), 'The key server has no secret at one/absent');
  assert.match(await absent('transit/keys'), /is of type transit/);
  await bao.request('POST', 'secret/data/gone', { data: { password: secret } });
  await bao.request('DELETE', 'secret/data/gone');
  assert.is(await absent('secret/gone'), 'The secret at secret/data/gone is deleted (version 1)');
  await bao.request('PUT', 'secret/destroy/gone', { versions: [1] });
  assert.is(await absent('secret/gone'), 'The secret at secret/data/gone is destroyed (version 1)');
});

test('logins that are refused', async ({ connect, kubernetes }) => {
  const auth = kubernetesAuth(kubernetes) as Extract<VaultAuth, { method: 'kubernetes' }>;
  const message = async (changed: VaultAuth) =>
    (await vaultFailure(connect(changed).logIn(patient()), 'denied')).message;
  assert.match(await message({ ...auth, role: 'unknown' }), /as role unknown/);
  assert.match(await message({ ...auth, mountPath: 'auth/absent' }), /auth\/absent\/login/);
  assert.match(await message({ method: 'token', token: 's.unknown' }), /does not accept the token/);
  kubernetes.revokeJwt();
  assert.match(await message(auth), /refuses the login/);
  kubernetes.issue();
  await connect(auth).logIn(patient());
});

test('every character in names and values, and every kind of value', async ({ connect, bao }) => {
  const data = {
    'ключ 🗝': '"quoted" \\ / <&> \u0000\u001f\u2028 \ud83d\ude00 é\n\t',
    empty: '',
    number: 1.5,
    large: 12345678901234567890n.toString(),
    yes: true,
    nothing: null,
    nested: { list: [1, 'two', { three: null }], text: 'a b' },
  };
  await bao.request('POST', 'secret/data/kinds', { data });
  const found = await readTexts(connect(root), 'secret/kinds');
  for (const [name, value] of Object.entries(data)) {
    const text = found[name] as string;
    if (typeof value === 'string') assert.is(text, value);
    else assert.equal(JSON.parse(text), value);
  }
  assert.is(Object.keys(found).length, Object.keys(data).length);
});

test('a mebibyte', async ({ connect, bao }) => {
  const big = randomBytes(500_000).toString('hex');
  assert.is((await bao.request('POST', 'one/big', { big, small: 'x' })).status, 204);
  const document = await connect(root).read('one/big', patient());
  assert.is(textsOf(document)['big'], big);
  document.release();
});

test('a server that is away, cut off, or comes back', async ({ connect, between }) => {
  const client = connect(root, { url: new URL(between.url) });
  const password = async () => (await readTexts(client, 'secret/app'))['password'];
  assert.is(await password(), secret);
  await between.refuse();
  await vaultFailure(password(), 'unavailable');
  await between.heal();
  assert.is(await password(), secret);
  for (const bytes of [0, 100, 900, 1500, 2500]) {
    between.cutAfter(bytes, 'to-client', 'reset');
    await vaultFailure(password(), 'unavailable');
    await between.heal();
  }
  assert.is(await password(), secret);
});

test('a sealed server', async ({ connect, bao }) => {
  const client = connect(root);
  await readTexts(client, 'secret/app');
  await bao.seal();
  try {
    const attempts = [client.read('secret/app', patient()), client.logIn(patient()), client.renew(patient())];
    for (const error of await Promise.all(attempts.map((attempt) => vaultFailure(attempt, 'unavailable')))) {
      assert.match(error.message, /503.*sealed/i);
    }
  } finally {
    await bao.unseal();
  }
  assert.is((await readTexts(client, 'secret/app'))['password'], secret);
});

test.run();
