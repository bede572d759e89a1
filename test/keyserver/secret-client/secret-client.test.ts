import { openSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { VaultAuth } from '../../../src/keyserver/settings.ts';
import { plainMemory } from '../../support/plain-memory.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type FakeKeyServer, fakeKeyServer, type Handler } from '../fake-key-server.ts';
import { vaultFailure } from '../rejection.ts';
import {
  type ClientChanges,
  clientOf,
  patient,
  readTexts,
  type TestClient,
  textsOf,
} from './client-fixture.ts';
import { kv2, kvHandler, refused } from './fake-kv.ts';

interface Context {
  server: FakeKeyServer;
  clients: TestClient[];
}

const test = suite<Context>('client for secrets');
const folder = temporaryFolder('secret-client');

test.before.each(async (context) => {
  context.server = await fakeKeyServer(() => refused(404));
  context.clients = [];
});

test.after.each(async ({ server, clients }) => {
  for (const client of clients) {
    client.close();
    await waitFor('all memory given back', () => client.memory.held() === 0, { timeoutMs: 5_000 });
    assert.ok(client.memory.everything().every((byte) => byte === 0));
  }
  await server.stop();
});

test.after(() => folder.remove());

function use({ server, clients }: Context, handler: Handler, changes: ClientChanges = {}): TestClient {
  server.handler = handler;
  const client = clientOf(server.url, changes);
  clients.push(client);
  return client;
}

const secret2 = { path: 'secret/', version: '2' };
const paths = ({ server }: Context) => server.seen.map(({ path }) => path);

test('reads version 2 in every form of the path', async (context) => {
  const client = use(
    context,
    kvHandler([secret2], () => kv2({ user: 'me', n: 1.5 }, 7)),
  );
  for (const path of ['secret/app', 'secret/data/app', '/secret/app/', 'v1/secret/app']) {
    const document = await client.read(path, patient());
    assert.is(document.path, path);
    assert.is(document.kvVersion, 2);
    assert.is(document.version, 7);
    assert.equal(textsOf(document), { user: 'me', n: '1.5' });
    document.release();
    document.release();
  }
  assert.equal(paths(context), ['sys/internal/ui/mounts/secret/app', ...Array(4).fill('secret/data/app')]);
});

test('reads version 1, options or not', async (context) => {
  const answer = () => ({ status: 200, json: { data: { user: 'me' } } });
  const client = use(context, kvHandler([{ path: 'one/' }, { path: 'uno/', version: '1' }], answer));
  for (const path of ['one/app', 'uno/data/app']) {
    const document = await client.read(path, patient());
    assert.equal([document.kvVersion, document.version], [1, undefined]);
    assert.equal(textsOf(document), { user: 'me' });
    document.release();
  }
  assert.equal(paths(context).slice(-1), ['uno/data/app']);
});

test('values of every kind and with every character', async (context) => {
  const text =
    '{"data": {"metadata": {"version": 3}, "data": {"b": true , "z":null,"n":-1.50e+2, "o" : { "a b" : [ 1, "x y" ] },' +
    '"e":"","k\\u00e9y \\ud83d\\ude00":"\\ud83d\\ude00\\n\\"\\\\\\/é\\u003c","d":"1","d":"2"}}}';
  const client = use(
    context,
    kvHandler([secret2], (_, response) => void response.end(text)),
  );
  assert.equal(await readTexts(client, 'secret/app'), {
    b: 'true',
    z: 'null',
    n: '-1.50e+2',
    o: '{"a b":[1,"x y"]}',
    e: '',
    'kéy 😀': '😀\n"\\/é<',
    d: '2',
  });
});

test('sends token and namespace, and asks a gateway below its path', async (context) => {
  const handler = kvHandler([secret2], () => kv2({}));
  const { server } = context;
  const client = use(context, handler, { namespace: 'team/app', url: new URL('/gate/', server.url) });
  assert.equal(await readTexts(client, 'secret/app'), {});
  for (const { headers } of server.seen) {
    assert.is(headers['x-vault-token'], 's.token');
    assert.is(headers['x-vault-namespace'], 'team/app');
    assert.is(headers['x-vault-request'], 'true');
    assert.is(headers.host, server.url.host);
  }
  assert.is(server.seen.length, 2);
});

test('asks for a store once, whoever asks at the same time', async (context) => {
  const client = use(
    context,
    kvHandler([secret2, { path: 'team/kv/', version: '2' }], () => kv2({ a: 'b' })),
  );
  const asked = ['secret/a', 'secret/b', 'secret/c', 'team/kv/a', 'team/kv/b'];
  for (const found of await Promise.all(asked.map((path) => readTexts(client, path)))) {
    assert.equal(found, { a: 'b' });
  }
  assert.is(context.server.to('sys/internal').length, 2);
  assert.equal(paths(context).slice(-2).sort(), ['team/kv/data/a', 'team/kv/data/b']);
});

test('one connection serves a server that is near, four one that is slow', async (context) => {
  let most = 0;
  let now = 0;
  const client = use(
    context,
    kvHandler([secret2], async () => {
      most = Math.max(most, ++now);
      await waitFor('four at once', () => most === 4, { timeoutMs: 5_000 });
      now--;
      return kv2({});
    }),
  );
  await Promise.all(Array.from({ length: 12 }, (_, index) => readTexts(client, `secret/${index}`)));
  assert.is(new Set(context.server.seen.map(({ socket }) => socket)).size, 4);
  context.server.seen.length = 0;
  context.server.handler = kvHandler([secret2], () => kv2({}));
  for (let index = 0; index < 5; index++) await readTexts(client, `secret/${index}`);
  assert.is(new Set(context.server.seen.map(({ socket }) => socket)).size, 1);
});

test('a kept connection that has died is replaced', async (context) => {
  const client = use(
    context,
    kvHandler([secret2], () => kv2({})),
  );
  await readTexts(client, 'secret/app');
  context.server.handler = ({ socket }) => {
    context.server.handler = kvHandler([secret2], () => kv2({ a: 'b' }));
    socket.destroy();
    return undefined;
  };
  assert.equal(await readTexts(client, 'secret/app'), { a: 'b' });
  assert.is(paths(context).filter((path) => path === 'secret/data/app').length, 3);
});

test('a server without the question is asked for version 2, then for version 1', async (context) => {
  const client = use(context, ({ path }) => {
    if (path === 'secret/data/two') return kv2({ is: 'two' });
    if (path === 'secret/one') return { status: 200, json: { data: { is: 'one' } } };
    return path === 'secret/data/one'
      ? refused(403, '1 error occurred:\n\t* permission denied\n\n')
      : refused(404);
  });
  assert.equal(await readTexts(client, 'secret/two'), { is: 'two' });
  assert.equal(await readTexts(client, 'secret/one'), { is: 'one' });
  const error = await vaultFailure(client.read('secret/none', patient()), 'not-found');
  assert.match(error.message, /no secret at secret\/data\/none/);
  assert.is(context.server.to('sys/internal').length, 1);
});

test('what is refused names the path and the capability', async (context) => {
  const denied = '1 error occurred:\n\t* permission denied\n\n';
  const client = use(
    context,
    kvHandler([secret2], () => refused(403, denied)),
  );
  const path = await vaultFailure(client.read('secret/app', patient()), 'denied');
  assert.is(path.message, 'The key server refuses read on secret/data/app');
  assert.match(path.nextStep, /capability "read" on secret\/data\/app/);
  const mount = await vaultFailure(client.read('other/app', patient()), 'denied');
  assert.match(mount.message, /refuses read on other\/app/);
  assert.match(mount.nextStep, /"read" on other\/app \(in KV version 2: other\/data\/app\)/);
  assert.is(mount.exitStatus, 77);
});

test('a token that the server does not know is said to be the fault', async (context) => {
  const client = use(context, () => refused(403, 'permission denied'));
  const attempts = [client.read('secret/app', patient()), client.logIn(patient()), client.renew(patient())];
  for (const error of await Promise.all(attempts.map((attempt) => vaultFailure(attempt, 'denied')))) {
    assert.match(error.message, /does not accept the token/);
  }
});

test('what is not there, deleted, destroyed or another engine', async (context) => {
  const metadata = { version: 4, destroyed: false, deletion_time: '2026-01-01T00:00:00Z' };
  const mounts = [secret2, { path: 'transit/', type: 'transit' }];
  const client = use(
    context,
    kvHandler(mounts, ({ path }) => {
      if (path.endsWith('absent')) return refused(404);
      const destroyed = path.endsWith('destroyed');
      return { status: 404, json: { data: { data: null, metadata: { ...metadata, destroyed } } } };
    }),
  );
  const failure = async (path: string) =>
    (await vaultFailure(client.read(path, patient()), 'not-found')).message;
  assert.is(await failure('secret/absent'), 'The key server has no secret at secret/data/absent');
  assert.is(await failure('secret/deleted'), 'The secret at secret/data/deleted is deleted (version 4)');
  assert.is(
    await failure('secret/destroyed'),
    'The secret at secret/data/destroyed is destroyed (version 4)',
  );
  assert.match(
    await failure('transit/app'),
    /transit\/app is not a key\/value secret: transit\/ is of type transit/,
  );
  assert.match(await failure('secret'), /"secret" is not the path of a secret/);
});

test('sealed, busy and broken servers are unavailable', async (context) => {
  for (const status of [429, 500, 502, 503]) {
    const client = use(context, () => refused(status, 'Vault is sealed'));
    const error = await vaultFailure(client.read('secret/app', patient()), 'unavailable');
    assert.is(error.status, status);
    assert.match(
      error.message,
      new RegExp(`${status} to sys/internal/ui/mounts/secret/app: Vault is sealed`),
    );
    assert.is(error.exitStatus, 69);
  }
});

test('no redirect is followed', async (context) => {
  const client = use(context, ({ path }, response) => {
    response.writeHead(307, { location: `${context.server.url.href}v1/${path}` }).end();
    return undefined;
  });
  const error = await vaultFailure(client.read('secret/app', patient()), 'unavailable');
  assert.match(error.message, /redirects .* elsewhere, which is not followed/);
  assert.is(context.server.seen.length, 1);
});

test('an answer that is not JSON, or not of that shape', async (context) => {
  for (const text of [
    '',
    '<html>s3cret</html>',
    '{"data":{"data":{"a":"s3cret"',
    '[]',
    '{"data":{"data":"s3cret"}}',
    '{}',
  ]) {
    const client = use(
      context,
      kvHandler([secret2], (_, response) => void response.end(text)),
    );
    const error = await vaultFailure(client.read('secret/app', patient()), 'unavailable');
    assert.not.match(`${error.stack} ${(error.cause as Error | undefined)?.stack}`, /s3cret/);
  }
});

test('a token that the server repeats is crossed out', async (context) => {
  const client = use(context, ({ headers }) => refused(400, `bad header: ${headers['x-vault-token']}!`));
  const error = await vaultFailure(client.read('secret/app', patient()), 'rejected');
  assert.match(error.message, /bad header: \*{7}!/);
});

test('looks a given token up', async (context) => {
  const data: Record<string, unknown> = { ttl: 1800, expire_time: '2026-01-01T00:00:00Z', renewable: true };
  const client = use(context, () => ({ status: 200, json: { data } }));
  assert.equal(await client.logIn(patient()), { leaseSeconds: 1800, renewable: true, replaced: false });
  Object.assign(data, { ttl: 0, renewable: false });
  assert.equal(await client.logIn(patient()), { leaseSeconds: 1, renewable: false, replaced: false });
  data['expire_time'] = null;
  assert.equal(await client.logIn(patient()), { leaseSeconds: 0, renewable: false, replaced: false });
  context.server.handler = () => refused(403, '1 error occurred:\n\t* permission denied\n\n');
  assert.equal(await client.logIn(patient()), { leaseSeconds: undefined, renewable: true, replaced: false });
  assert.is(context.server.to('auth/token/lookup-self').length, 4);
});

test('a token given in secret memory wins, and goes with the client', async (context) => {
  const { memory } = clientOf(context.server.url);
  const token = memory.allocate(10);
  token.bytes.set(Buffer.from(' s.given\n '));
  const client = use(
    context,
    kvHandler([secret2], () => kv2({})),
    { token },
  );
  await readTexts(client, 'secret/app');
  assert.is(context.server.seen[0]?.headers['x-vault-token'], 's.given');
  client.close();
  assert.is(memory.everything().indexOf('s.given'), -1);
});

test('renews, adopts the token of the answer, and tells when that gains nothing', async (context) => {
  let lease = 3600;
  const handler = kvHandler([secret2], ({ path }) => {
    if (path === 'auth/token/lookup-self')
      return { status: 200, json: { data: { ttl: 1800, expire_time: 'x' } } };
    if (path !== 'auth/token/renew-self') return kv2({});
    return {
      status: 200,
      json: { auth: { client_token: 's.\u006eew', lease_duration: lease, renewable: true } },
    };
  });
  const client = use(context, handler);
  await client.logIn(patient());
  assert.equal(await client.renew(patient()), { leaseSeconds: 3600, renewable: true });
  lease = 1799;
  assert.equal(await client.renew(patient()), { leaseSeconds: 1799, renewable: true });
  await readTexts(client, 'secret/app');
  const tokens = context.server.seen.map(({ headers }) => headers['x-vault-token']);
  assert.equal(tokens, ['s.token', 's.token', 's.new', 's.new', 's.new']);
  context.server.handler = () => refused(400, 'lease is not renewable');
  assert.match((await vaultFailure(client.renew(patient()), 'rejected')).message, /lease is not renewable/);
});

const jwtFile = join(folder.path, 'jwt');
const kubernetes: VaultAuth = {
  method: 'kubernetes',
  role: 'a"b',
  mountPath: 'auth/kubernetes',
  serviceAccountTokenPath: jwtFile,
};

const heldOpen = () =>
  readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return ''; // that of the listing itself
    }
  });

test('reads the token of the service account from a descriptor, where somebody else opens the file', async (context) => {
  const otherFile = join(folder.path, 'opened-by-another');
  const auth = { ...kubernetes, serviceAccountTokenPath: '/nowhere/token' };
  const openServiceAccountToken = () => openSync(otherFile, 'r');
  const client = use(
    context,
    () => ({ status: 200, json: { auth: { client_token: 's.1', lease_duration: 60, renewable: true } } }),
    { auth, openServiceAccountToken },
  );
  for (const jwt of ['e.y.1', 'e.y.2']) {
    writeFileSync(otherFile, jwt);
    await client.logIn(patient());
    assert.equal(context.server.to('auth/').at(-1)?.json, { role: 'a"b', jwt });
  }
  assert.not.ok(heldOpen().includes(otherFile));
  const alone = use(context, () => refused(500), { auth, openServiceAccountToken: () => undefined });
  const { message } = await vaultFailure(alone.logIn(patient()), 'unavailable');
  assert.match(message, '/nowhere/token cannot be read (ENOENT)');
});

test('logs in by the service account, whose token is read each time', async (context) => {
  let given = 0;
  const client = use(
    context,
    kvHandler([secret2], ({ path }) => {
      if (path !== 'auth/kubernetes/login') return kv2({});
      return {
        status: 200,
        json: { auth: { client_token: `s.${++given}`, lease_duration: 60, renewable: true } },
      };
    }),
    { auth: kubernetes },
  );
  for (const jwt of ['e.y.1', 'e"y\\2']) {
    writeFileSync(jwtFile, `${jwt}\n`);
    const login = client.logIn(patient());
    const read = readTexts(client, 'secret/app');
    assert.equal(await login, { leaseSeconds: 60, renewable: true, replaced: true });
    await read;
    assert.equal(context.server.to('auth/').at(-1)?.json, { role: 'a"b', jwt });
  }
  const tokens = context.server.to('secret/').map(({ headers }) => headers['x-vault-token']);
  assert.is(context.server.to('auth/')[0]?.headers['x-vault-token'], undefined);
  assert.is(tokens[0], 's.1');
});

test('a token that is given besides another way to log in is zeroed and never sent', async (context) => {
  writeFileSync(jwtFile, 'e.y.0');
  const token = plainMemory().allocate(9);
  token.bytes.write('s.foreign');
  const { bytes } = token;
  const handler = kvHandler([secret2], ({ path }) =>
    path.startsWith('auth/')
      ? { status: 200, json: { auth: { client_token: 's.own', lease_duration: 60, renewable: true } } }
      : kv2({}),
  );
  const client = use(context, handler, { auth: kubernetes, token });
  assert.ok(bytes.every((byte) => byte === 0));
  const login = client.logIn(patient());
  await Promise.all([login, readTexts(client, 'secret/app')]);
  for (const { headers, path } of context.server.seen)
    assert.is(headers['x-vault-token'], path.startsWith('auth/') ? undefined : 's.own', path);
});

test('a login that fails fails what waits for it', async (context) => {
  writeFileSync(jwtFile, 'e.y.3');
  const client = use(context, () => refused(400, 'invalid role name e.y.3'), { auth: kubernetes });
  const early = await vaultFailure(client.read('secret/app', patient()), 'unavailable');
  assert.match(early.message, /no token/);
  const login = vaultFailure(client.logIn(patient()), 'denied');
  const read = vaultFailure(client.read('secret/app', patient()), 'denied');
  const error = await login;
  assert.match(
    error.message,
    /refuses the login at auth\/kubernetes\/login as role a"b: invalid role name \*{5}/,
  );
  assert.is(await read, error);
});

test('a login without a usable token is refused', async (context) => {
  writeFileSync(jwtFile, 'e.y.4');
  const client = use(context, () => ({ status: 200 }), { auth: kubernetes });
  for (const auth of [
    null,
    {},
    { client_token: 's.x' },
    { client_token: '', lease_duration: 1 },
    { client_token: 'a\r\nb', lease_duration: 1 },
  ]) {
    context.server.handler = () => ({ status: 200, json: { auth } });
    assert.match((await vaultFailure(client.logIn(patient()), 'unavailable')).message, /without a token/);
  }
});

test('a token file is read at each login', async (context) => {
  const path = join(folder.path, 'token');
  const client = use(context, () => ({ status: 200, json: { data: { ttl: 60 } } }), {
    auth: { method: 'token-file', path },
  });
  assert.match(
    (await vaultFailure(client.logIn(patient()), 'unavailable')).message,
    /cannot be read \(ENOENT\)/,
  );
  for (const token of ['s.first', 's.second']) {
    writeFileSync(path, `${token}\n`);
    await client.logIn(patient());
    assert.is(context.server.seen.at(-1)?.headers['x-vault-token'], token);
  }
});

test('nothing but the token stays when a document has been released', async (context) => {
  const client = use(
    context,
    kvHandler([secret2], () => kv2({ password: 's3cret' })),
  );
  const document = await client.read('secret/app', patient());
  const times = (text: string) => client.memory.everything().toString('latin1').split(text).length - 1;
  await waitFor('requests zeroed', () => times('s.token') === 1);
  assert.is(times('s3cret'), 1);
  document.release();
  assert.is(times('s3cret'), 0);
});

test('close fails what is under way', async (context) => {
  const client = use(context, () => {
    client.close();
    return undefined;
  });
  await vaultFailure(client.read('secret/app', patient()), 'unavailable');
  await vaultFailure(client.read('secret/app', patient()), 'unavailable');
});

test.run();
