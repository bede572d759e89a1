import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createVaultClient, type ExchangingVaultClient } from '../../src/keyserver/client.ts';
import { createNodeVaultTransport } from '../../src/keyserver/node-vault-transport.ts';
import type { SessionState } from '../../src/keyserver/session.ts';
import type { VaultAuth } from '../../src/keyserver/settings.ts';
import { createTransit } from '../../src/keyserver/transit.ts';
import { createLogger } from '../../src/runtime/logging/create-logger.ts';
import { startOpenBao } from '../support/openbao.ts';
import { startRequestLog } from '../support/request-log.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary.ts';
import type { KubernetesAuth, OpenBao } from '../support/types.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectionTo } from './fake-key-server.ts';
import { vaultFailure } from './rejection.ts';

export const idle = true;

interface Connected {
  readonly client: ExchangingVaultClient;
  readonly states: SessionState[];
  readonly logged: () => string;
}

interface Context {
  bao: OpenBao;
  folder: TemporaryFolder;
  connect: (auth: VaultAuth, changes?: { url?: string; caFiles?: string[] }) => Promise<Connected>;
  open: ExchangingVaultClient[];
}

const test = suite<Context>('key server client on OpenBao');

test.before(async (context) => {
  context.bao = await startOpenBao();
  context.folder = temporaryFolder('vault-openbao');
  context.open = [];
  context.connect = async (auth, { url = context.bao.url, caFiles = [] } = {}) => {
    const lines: string[] = [];
    const states: SessionState[] = [];
    const log = await createLogger({
      component: 'test',
      level: 'debug',
      sink: { write: (line) => void lines.push(line) },
    });
    const endpoint = { url: new URL(url), skipVerify: false, caFiles, caPath: undefined, client: undefined };
    const client = createVaultClient({
      component: 'test',
      config: { endpoint, auth, namespace: undefined },
      log,
      onState: (state) => states.push(state),
    });
    context.open.push(client);
    await client.start();
    return { client, states, logged: () => lines.join('') };
  };
  await context.bao.enableTransit();
});

test.after(async ({ bao, folder, open }) => {
  for (const client of open) await client.close();
  await bao.stop();
  await folder.remove();
});

const transitOf = (client: ExchangingVaultClient, keyName = 'svc', mount = 'transit') =>
  createTransit(client, { mount, keyName });

const kubernetes = ({
  role,
  mountPath,
  jwtPath,
}: Pick<KubernetesAuth, 'role' | 'mountPath' | 'jwtPath'>): VaultAuth => ({
  method: 'kubernetes',
  role,
  mountPath,
  serviceAccountTokenPath: jwtPath,
});

async function roundTrip(client: ExchangingVaultClient, associatedData = 'bucket/key'): Promise<void> {
  const key = randomBytes(32);
  const transit = transitOf(client);
  const [wrapped] = await transit.wrap([{ key, associatedData }]);
  const [back] = await transit.unwrap([{ ciphertext: wrapped?.ciphertext ?? '', associatedData }]);
  assert.ok(back?.equals(key));
}

test('the policy of the specification suffices, and is needed', async ({ bao, connect }) => {
  const { client, states } = await connect({ method: 'token', token: await bao.policyToken() });
  assert.is(states.at(-1)?.ready, true);
  await roundTrip(client);
  const keys = Array.from({ length: 3 }, () => ({ key: randomBytes(32) }));
  assert.is((await transitOf(client).wrap(keys)).length, 3);
  const error = await vaultFailure(transitOf(client, 'other').wrap(keys), 'denied');
  assert.match(error.message, /update on transit\/encrypt\/other/);
  await vaultFailure(client.request({ method: 'GET', path: 'transit/keys/svc' }), 'denied');
});

test('a token that nobody issued is denied, and so is one that was revoked', async ({ bao, connect }) => {
  const wrong = await connect({ method: 'token', token: 's.nobodyissuedthistoken000' });
  assert.is(wrong.states.at(-1)?.ready, false);
  await vaultFailure(roundTrip(wrong.client), 'denied');
  const token = await bao.policyToken();
  const { client, states } = await connect({ method: 'token', token });
  await roundTrip(client);
  await bao.revoke(token);
  await vaultFailure(roundTrip(client), 'denied');
  assert.is(states.at(-1)?.ready, false);
});

test('a token file is read again when its token was revoked', async ({ bao, folder, connect }) => {
  const path = join(folder.path, 'token');
  const first = await bao.policyToken();
  writeFileSync(path, `${first}\n`);
  const { client, states } = await connect({ method: 'token-file', path });
  await roundTrip(client);
  writeFileSync(path, `${await bao.policyToken()}\n`);
  await bao.revoke(first);
  await roundTrip(client);
  assert.is(states.at(-1)?.ready, true);
});

test('a renewable token is renewed beyond its first life', async ({ bao, connect }) => {
  const policies = [await bao.transitPolicy()];
  const made = await bao.request('POST', 'auth/token/create', { policies, ttl: '2s', renewable: true });
  const { client, states, logged } = await connect({ method: 'token', token: made.json.auth.client_token });
  await waitFor('renewals', () => logged().split('vault.renewal').length > 3);
  await roundTrip(client);
  assert.is(states.at(-1)?.ready, true);
});

test('kubernetes auth logs in again before the token ends, without renewal', async ({ bao, connect }) => {
  const auth = await bao.enableKubernetesAuth({ mount: 'kubernetes-short', ttl: '2s' });
  const { client, states, logged } = await connect(kubernetes(auth));
  await waitFor('three logins', () => auth.reviews() >= 3);
  await roundTrip(client);
  assert.not.match(logged(), /vault\.renewal/);
  assert.equal(
    states.map(({ ready }) => ready),
    [false, true],
  );
});

test('kubernetes auth logs in again after its tokens were revoked, with a fresh JWT', async ({
  bao,
  connect,
}) => {
  const auth = await bao.enableKubernetesAuth({ mount: 'kubernetes-revoked' });
  const { client } = await connect(kubernetes(auth));
  await roundTrip(client);
  auth.revokeJwt();
  auth.issue();
  await bao.request('POST', `sys/leases/revoke-prefix/${auth.mountPath}`, {});
  await Promise.all(Array.from({ length: 10 }, () => roundTrip(client)));
  assert.is(auth.reviews(), 2);
});

test('a service account that is refused makes the client unready until it is accepted', async ({
  bao,
  connect,
}) => {
  const auth = await bao.enableKubernetesAuth({ mount: 'kubernetes-refused' });
  auth.revokeJwt();
  const { client, states } = await connect(kubernetes(auth));
  assert.is(states.at(-1)?.ready, false);
  const error = await vaultFailure(roundTrip(client), 'denied');
  assert.match(error.message, /auth\/kubernetes-refused\/login as role svc-proxy/);
  auth.issue();
  await waitFor('readiness', () => states.at(-1)?.ready);
  await roundTrip(client);
});

test('an unknown role or mount is a refused login', async ({ bao, connect }) => {
  const auth = await bao.enableKubernetesAuth({ mount: 'kubernetes-names' });
  for (const wrong of [{ role: 'nobody' }, { mountPath: 'auth/absent' }]) {
    const { client } = await connect(kubernetes({ ...auth, ...wrong }));
    await vaultFailure(roundTrip(client), 'denied');
    await client.close();
  }
});

test('a thousand keys with associated data are wrapped and unwrapped', async ({ bao, connect }) => {
  const { client } = await connect({ method: 'token', token: await bao.policyToken() });
  const transit = transitOf(client);
  const items = Array.from({ length: 1_000 }, (_, n) => ({
    key: randomBytes(32),
    associatedData: `bucket/ключ/${n}`,
  }));
  const wrapped = await transit.wrap(items);
  const back = await transit.unwrap(
    wrapped.map(({ ciphertext }, n) => ({ ciphertext, associatedData: `bucket/ключ/${n}` })),
  );
  assert.ok(items.every(({ key }, n) => back[n]?.equals(key)));
  const swapped = wrapped.map(({ ciphertext }, n) => ({
    ciphertext,
    associatedData: `bucket/ключ/${n === 777 ? 778 : n}`,
  }));
  const error = await vaultFailure(transit.unwrap(swapped), 'rejected');
  assert.is(error.index, 777);
});

test('a list of the longest kind passes, and its results bear references', async ({ bao, connect }) => {
  const relay = await startRequestLog(bao.url);
  try {
    const auth = { method: 'token', token: await bao.policyToken() } as const;
    const { client } = await connect(auth, { url: relay.url });
    const transit = transitOf(client);
    const items = Array.from({ length: 160 }, (_, n) => ({ key: randomBytes(32), associatedData: `${n}` }));
    relay.clear();
    const wrapped = await transit.wrap(items);
    await transit.unwrap(wrapped.map(({ ciphertext }, n) => ({ ciphertext, associatedData: `${n}` })));
    assert.is(relay.matching('POST', /crypt/).length, 2);
    const batch_input = [
      { plaintext: 'AAAA', reference: '41' },
      { plaintext: 'no base64!', reference: '42' },
    ];
    const { json } = await bao.request('POST', 'transit/encrypt/svc', { batch_input });
    assert.equal(
      json.data.batch_results.map(({ reference }: { reference: string }) => reference),
      ['41', '42'],
    );
  } finally {
    await relay.stop();
  }
});

test('64 callers at a time: joined they are fewer calls, and each gets its own key', async ({
  bao,
  connect,
}) => {
  const relay = await startRequestLog(bao.url);
  try {
    const auth = { method: 'token', token: await bao.policyToken() } as const;
    const { client } = await connect(auth, { url: relay.url });
    for (const joinCalls of [true, false]) {
      const transit = createTransit(client, { mount: 'transit', keyName: 'svc', joinCalls });
      const keys = Array.from({ length: 64 }, () => randomBytes(32));
      relay.clear();
      const wrapped = await Promise.all(
        keys.map((key, n) => transit.wrap([{ key, associatedData: `bucket/${n}` }])),
      );
      const encrypted = relay.matching('POST', /encrypt/).length;
      const back = await Promise.all(
        wrapped.map(([one], n) =>
          transit.unwrap([{ ciphertext: one?.ciphertext ?? '', associatedData: `bucket/${n}` }]),
        ),
      );
      const decrypted = relay.matching('POST', /decrypt/).length;
      assert.ok(back.every(([key], n) => keys[n]?.equals(key as Buffer)));
      assert.ok(joinCalls ? encrypted <= 8 : encrypted === 64, `${encrypted}`);
      assert.ok(joinCalls ? decrypted <= 8 : decrypted === 64, `${decrypted}`);
    }
  } finally {
    await relay.stop();
  }
});

test('joined, one bad item harms no other, whatever the server says to it', async ({ bao, connect }) => {
  const { client } = await connect({ method: 'token', token: await bao.policyToken() });
  const transit = createTransit(client, { mount: 'transit', keyName: 'svc', joinCalls: true });
  const key = randomBytes(32);
  const [wrapped] = await transit.wrap([{ key, associatedData: 'a' }]);
  const item = { ciphertext: wrapped?.ciphertext ?? '', associatedData: 'a' };
  const empty = await bao.request('POST', 'transit/encrypt/svc', { plaintext: '' });
  for (const bad of [
    { ...item, associatedData: 'b' },
    { ...item, ciphertext: item.ciphertext.replace('v1', 'v9') },
    { ciphertext: 'vault:v1:AAAA' },
    { ciphertext: empty.json.data.ciphertext as string },
  ]) {
    const good = Array.from({ length: 8 }, () => transit.unwrap([item]));
    const refused = vaultFailure(transit.unwrap([bad]), 'rejected');
    good.push(...Array.from({ length: 8 }, () => transit.unwrap([item])));
    assert.ok((await Promise.all(good)).every(([back]) => back?.equals(key)));
    await refused;
  }
});

test('wrong associated data and changed ciphertexts are rejected', async ({ bao, connect }) => {
  const { client } = await connect({ method: 'token', token: await bao.policyToken() });
  const transit = transitOf(client);
  const [wrapped] = await transit.wrap([{ key: randomBytes(32), associatedData: 'a' }]);
  const { ciphertext = '' } = wrapped ?? {};
  const flipped = ciphertext.replace(/.{5}$/, (end) =>
    end.startsWith('A') ? `B${end.slice(1)}` : `A${end.slice(1)}`,
  );
  for (const item of [
    { ciphertext, associatedData: 'b' },
    { ciphertext },
    { ciphertext: flipped, associatedData: 'a' },
    { ciphertext: ciphertext.replace('v1', 'v9'), associatedData: 'a' },
    { ciphertext: 'vault:v1:AAAA', associatedData: 'a' },
  ]) {
    await vaultFailure(transit.unwrap([item]), 'rejected');
  }
});

test('rotation gives new wraps a new version; a version can be ruled out', async ({ bao, connect }) => {
  await bao.enableTransit('rotated', 'kek');
  const { client } = await connect({
    method: 'token',
    token: await bao.policyToken({ mount: 'rotated', key: 'kek' }),
  });
  const transit = transitOf(client, 'kek', 'rotated');
  const key = randomBytes(32);
  const [old] = await transit.wrap([{ key }]);
  await bao.rotate('rotated', 'kek');
  const [fresh] = await transit.wrap([{ key }]);
  assert.equal([old?.keyVersion, fresh?.keyVersion], [1, 2]);
  const items = [{ ciphertext: fresh?.ciphertext ?? '' }, { ciphertext: old?.ciphertext ?? '' }];
  assert.is((await transit.unwrap(items)).length, 2);
  await bao.request('POST', 'rotated/keys/kek/config', { min_decryption_version: 2 });
  const error = await vaultFailure(transit.unwrap(items), 'expired-version');
  assert.is(error.index, 1);
  assert.match(error.message, /Version 1 of transit key kek/);
  assert.is((await transit.unwrap(items.slice(0, 1))).length, 1);
});

test('an absent key or mount is not found, for who may know', async ({ bao, connect }) => {
  const { client } = await connect({ method: 'token', token: bao.rootToken });
  const items = [{ ciphertext: 'vault:v1:AAAA' }];
  await vaultFailure(transitOf(client, 'absent').unwrap(items), 'not-found');
  await vaultFailure(transitOf(client, 'svc', 'absent').unwrap(items), 'not-found');
});

test('sealed it is unavailable; unsealed the same client works on', async ({ bao, connect }) => {
  const { client, states } = await connect({ method: 'token', token: await bao.policyToken() });
  await bao.seal();
  try {
    const error = await vaultFailure(roundTrip(client), 'unavailable');
    assert.is(error.status, 503);
    assert.match(error.message, /sealed/);
  } finally {
    await bao.unseal();
  }
  await roundTrip(client);
  assert.is(states.at(-1)?.ready, true);
});

test('over TLS with its own CA, and by node-vault', async ({ connect }) => {
  const bao = await startOpenBao({ tls: true });
  try {
    await bao.enableTransit();
    const caFiles = [bao.caFile as string];
    const token = await bao.policyToken();
    const { client } = await connect({ method: 'token', token }, { url: bao.url, caFiles });
    await roundTrip(client);
    const stranger = await connect({ method: 'token', token }, { url: bao.url });
    assert.is(stranger.states.at(-1)?.ready, false);
    await stranger.client.close();
    const tls = { caFiles, caPath: undefined, client: undefined };
    const transport = await createNodeVaultTransport(connectionTo(new URL(bao.url), { tls }));
    const mounts = await transport.send({ method: 'GET', path: 'sys/mounts', token: bao.rootToken });
    assert.is(mounts.status, 200);
    const listed = await transport.send({ method: 'LIST', path: 'transit/keys', token: bao.rootToken });
    assert.equal((listed.body as { data: unknown }).data, { keys: ['svc'] });
    transport.close();
    await client.close();
  } finally {
    await bao.stop();
  }
});

test('nothing that is logged holds a token, a JWT or a key', async ({ bao, connect }) => {
  const auth = await bao.enableKubernetesAuth({ mount: 'kubernetes-secrecy', ttl: '2s' });
  const jwt = auth.issue();
  const { client, logged } = await connect(kubernetes(auth));
  const key = randomBytes(32);
  const [wrapped] = await transitOf(client).wrap([{ key }]);
  const error = await vaultFailure(
    transitOf(client).unwrap([{ ciphertext: wrapped?.ciphertext ?? '', associatedData: 'x' }]),
    'rejected',
  );
  auth.revokeJwt();
  await waitFor('a failed login', () => /vault\.login\.failed/.test(logged()));
  const told = logged() + error.message + error.stack + JSON.stringify(error);
  for (const secret of [jwt, key.toString('base64'), key.toString('hex')])
    assert.not.ok(told.includes(secret));
  assert.not.match(told, /\bs\.[A-Za-z0-9]{20,}/);
});

test.run();
