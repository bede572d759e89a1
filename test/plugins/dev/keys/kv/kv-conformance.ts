import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type SecretTokens, setUpSecrets } from '../../../../../src/plugins/dev/keys/set-up.ts';
import { vaultFailure } from '../../../../keyserver/rejection.ts';
import {
  clientOf,
  patient,
  readTexts,
  type TestClient,
} from '../../../../keyserver/secret-client/client-fixture.ts';
import { http } from '../../../../support/http.ts';
import type { KeyServerUnderTest } from '../transit-conformance.ts';

interface Context {
  server: KeyServerUnderTest;
  tokens: SecretTokens;
  client: (token: string) => TestClient;
  ask: (method: string, path: string, body?: unknown, token?: string) => ReturnType<typeof http>;
}

const secrets = {
  'demo/db': { DB_USER: 'dba', DB_PASSWORD: 'pass "word" \\ ü' },
  'demo/api': { API_KEY: 'first' },
};
const hour = 3600;

/** What the embedded key server and a real one have in common, seen through the wrapper's client and by HTTP. */
export function kvConformance(name: string, start: () => Promise<KeyServerUnderTest>): void {
  const test = suite<Context>(`secrets of ${name}`);
  const open: TestClient[] = [];

  test.before(async (context) => {
    const server = await start();
    const { url, rootToken } = server;
    context.server = server;
    context.tokens = await setUpSecrets({ url, rootToken, secrets });
    context.client = (token) => {
      const client = clientOf(url, { auth: { method: 'token', token } });
      open.push(client);
      return client;
    };
    context.ask = (method, path, body, token = rootToken) =>
      http(`${url}/v1/${path}`, {
        method,
        headers: token === '' ? {} : { 'x-vault-token': token },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
  });
  test.after.each(() => {
    for (const client of open.splice(0)) client.close();
  });
  test.after(({ server }) => server?.stop());

  test('the client logs in, reads by either form of a path, and renews', async ({ client, tokens }) => {
    const reader = client(tokens.reader);
    const lease = await reader.logIn(patient());
    const { leaseSeconds = 0 } = lease;
    assert.ok(lease.renewable && leaseSeconds > hour - 60 && leaseSeconds <= hour);
    for (const path of ['secret/demo/db', 'secret/data/demo/db', '/v1/secret/data/demo/db/'])
      assert.equal(await readTexts(reader, path), secrets['demo/db']);
    assert.equal(await reader.renew(patient()), { leaseSeconds: hour, renewable: true });
    assert.equal(await readTexts(reader, 'secret/demo/api'), secrets['demo/api']);
  });

  test('the client sees a new version and its number', async ({ client, tokens, ask }) => {
    const reader = client(tokens.reader);
    const versions = async () => {
      const document = await reader.read('secret/demo/api', patient());
      document.release();
      return [document.kvVersion, document.version];
    };
    assert.equal(await versions(), [2, 1]);
    const written = await ask('POST', 'secret/data/demo/api', { data: { API_KEY: 'second' } }, tokens.writer);
    assert.equal([written.status, written.json.data.version], [200, 2]);
    assert.equal(await versions(), [2, 2]);
    assert.equal(await readTexts(reader, 'secret/demo/api'), { API_KEY: 'second' });
  });

  test('the client is told what is refused, missing or deleted', async ({ client, tokens, server, ask }) => {
    const reader = client(tokens.reader);
    const denied = async (path: string) =>
      (await vaultFailure(reader.read(path, patient()), 'denied')).message;
    assert.is(await denied('secret/other'), 'The key server refuses read on secret/data/other');
    assert.is(
      await denied('nowhere/app'),
      'The key server refuses read on nowhere/app, or has no such store',
    );
    const unknown = await vaultFailure(client('s.unknown').logIn(patient()), 'denied');
    assert.match(unknown.message, /does not accept the token/);
    const root = client(server.rootToken);
    assert.equal(await root.logIn(patient()), { leaseSeconds: 0, renewable: false, replaced: false });
    const missing = async (path: string) =>
      (await vaultFailure(root.read(path, patient()), 'not-found')).message;
    assert.is(await missing('secret/absent'), 'The key server has no secret at secret/data/absent');
    await ask('POST', 'secret/data/gone', { data: { KEY: 'value' } });
    assert.is((await ask('DELETE', 'secret/data/gone')).status, 204);
    assert.is(await missing('secret/gone'), 'The secret at secret/data/gone is deleted (version 1)');
    await vaultFailure(root.renew(patient()), 'rejected');
  });

  test('the writer may write the secrets and nothing else, the reader only read', async ({ tokens, ask }) => {
    const { reader, writer } = tokens;
    const data = { data: { KEY: 'value' } };
    await ask('PUT', 'sys/policies/acl/else', { policy: 'path "sys/mounts" { capabilities = ["read"] }' });
    const other = (await ask('POST', 'auth/token/create', { policies: ['else'], no_default_policy: true }))
      .json.auth.client_token;
    const cases: [token: string, method: string, path: string, status: number][] = [
      [writer, 'GET', 'secret/data/demo/api', 200],
      [writer, 'POST', 'secret/data/other', 403],
      [writer, 'DELETE', 'secret/data/demo/api', 403],
      [writer, 'GET', 'secret/metadata/demo/api', 403],
      [writer, 'GET', 'sys/internal/ui/mounts/secret/demo/api', 200],
      [reader, 'POST', 'secret/data/demo/api', 403],
      [reader, 'GET', 'secret/metadata/demo?list=true', 403],
      [reader, 'GET', 'sys/mounts', 403],
      [other, 'GET', 'sys/mounts', 200],
      [other, 'GET', 'sys/internal/ui/mounts/secret/demo/api', 403],
      ['', 'GET', 'secret/data/demo/api', 403],
      ['', 'GET', 'sys/internal/ui/mounts/secret/demo/api', 403],
    ];
    for (const [token, method, path, status] of cases) {
      const answer = await ask(method, path, method === 'POST' ? data : undefined, token);
      assert.is(answer.status, status, `${method} ${path} ${answer.text}`);
    }
  });

  test('what makes a secret needs create, what changes it update', async ({ ask }) => {
    const policy =
      'path "secret/data/made" { capabilities = ["create"] }\npath "secret/data/changed" { capabilities = ["update"] }';
    await ask('PUT', 'sys/policies/acl/narrow', { policy });
    const token = (await ask('POST', 'auth/token/create', { policies: ['narrow'], no_default_policy: true }))
      .json.auth.client_token;
    const write = async (path: string, as?: string) =>
      (await ask('PUT', `secret/data/${path}`, { data: { a: '1' } }, as)).status;
    assert.equal([await write('made', token), await write('made', token)], [200, 403]);
    assert.equal([await write('changed', token), await write('changed')], [403, 200]);
    assert.is(await write('changed', token), 200);
  });

  test('versions: the last ten stay, each can be read, check-and-set holds', async ({ ask }) => {
    const read = async (version: string) => {
      const { status, json } = await ask('GET', `secret/data/many?version=${version}`);
      return status === 200 ? [json.data.data.n, json.data.metadata.version] : status;
    };
    for (let n = 1; n <= 12; n++) await ask('POST', 'secret/data/many', { data: { n } });
    assert.equal(await read('0'), [12, 12]);
    assert.equal(await read('3'), [3, 3]);
    assert.equal([await read('2'), await read('13'), await read('x')], [404, 404, 400]);
    const cas = async (expected: number) =>
      (await ask('POST', 'secret/data/many', { data: { n: 0 }, options: { cas: expected } })).status;
    assert.equal([await cas(11), await cas(0), await cas(12)], [400, 400, 200]);
    const { data } = (await ask('GET', 'secret/metadata/many')).json;
    assert.equal([data.current_version, data.oldest_version], [13, 4]);
    assert.equal(Object.keys(data.versions), ['4', '5', '6', '7', '8', '9', '10', '11', '12', '13']);
  });

  test('a deleted version is a 404 that tells when, and a new one is there again', async ({ ask }) => {
    await ask('POST', 'secret/data/back', { data: { a: '1' } });
    await ask('DELETE', 'secret/data/back');
    const { status, json } = await ask('GET', 'secret/data/back');
    assert.equal([status, json.data.data, json.data.metadata.version], [404, null, 1]);
    assert.ok(Date.parse(json.data.metadata.deletion_time) > 0);
    await ask('POST', 'secret/data/back', { data: { a: '2' } });
    assert.equal((await ask('GET', 'secret/data/back')).json.data.data, { a: '2' });
    assert.is((await ask('DELETE', 'secret/metadata/back')).status, 204);
    assert.equal((await ask('GET', 'secret/data/back')).json.errors, []);
  });

  test('lists what there is, folders with a slash', async ({ ask }) => {
    await ask('POST', 'secret/data/tree/leaf', { data: {} });
    await ask('POST', 'secret/data/tree/branch/one', { data: {} });
    await ask('POST', 'secret/data/tree/branch/two', { data: {} });
    const keys = async (path: string) =>
      (await ask('GET', `secret/metadata/${path}?list=true`)).json.data?.keys;
    assert.equal(await keys('tree'), ['branch/', 'leaf']);
    assert.equal(await keys('tree/branch/'), ['one', 'two']);
    assert.is(await keys('tree/none'), undefined);
  });

  test('what is no secret is refused', async ({ ask }) => {
    const cases: [body: unknown, path: string, status: number][] = [
      [{}, 'secret/data/bad', 400],
      [{ data: 'text' }, 'secret/data/bad', 400],
      [{ data: {} }, 'secret/data/', 400],
      [{ data: {} }, 'secret/bad', 404],
    ];
    for (const [body, path, status] of cases) {
      const answer = await ask('POST', path, body);
      assert.is(answer.status, status, `${path} ${answer.text}`);
    }
    assert.is((await ask('GET', 'secret/data/bad')).status, 404);
  });

  test('a token: its span, renewal by another span, one that cannot be renewed', async ({ ask }) => {
    const create = async (options: object) => {
      await ask('PUT', 'sys/policies/acl/own', {
        policy:
          'path "auth/token/lookup-self" { capabilities = ["read"] }\npath "auth/token/renew-self" { capabilities = ["update"] }',
      });
      const body = { policies: ['own'], no_default_policy: true, ...options };
      return (await ask('POST', 'auth/token/create', body)).json.auth;
    };
    const { client_token: token, ...auth } = await create({ ttl: '30m' });
    assert.equal([auth.lease_duration, auth.renewable, auth.policies], [1800, true, ['own']]);
    const found = (await ask('GET', 'auth/token/lookup-self', undefined, token)).json.data;
    assert.ok(found.ttl > 1700 && found.ttl <= 1800 && Date.parse(found.expire_time) > Date.now());
    assert.equal([found.id, found.creation_ttl, found.renewable], [token, 1800, true]);
    const renewed = async (increment: string, as: string) =>
      await ask('POST', 'auth/token/renew-self', { increment }, as);
    assert.is((await renewed('60', token)).json.auth.lease_duration, 60);
    assert.is((await renewed('2m', token)).json.auth.lease_duration, 120);
    const fixed = (await create({ ttl: '30m', renewable: false })).client_token;
    const refused = await renewed('60', fixed);
    assert.equal([refused.status, refused.json.errors], [400, ['lease is not renewable']]);
    assert.is((await ask('POST', 'auth/token/create', { policies: ['own'], ttl: 'soon' })).status, 400);
  });

  test('a token is unknown when its time is over', async ({ ask, client }) => {
    const { client_token: token } = (await ask('POST', 'auth/token/create', { policies: ['own'], ttl: '1s' }))
      .json.auth;
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const { message } = await vaultFailure(client(token).logIn(patient()), 'denied');
    assert.match(message, /does not accept the token/);
  });

  test.run();
}
