import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { secrets } from '../../src/runtime/logging/secrets.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  type ClientContext,
  closeContext,
  deadToken,
  fine,
  granted,
  missingPolicy,
  openContext,
  routes,
  sealed,
  serviceAccount,
} from './client-fixture.ts';
import { rejection, vaultFailure } from './rejection.ts';

export const idle = true;

const test = suite<ClientContext>('key server session');

test.before.each(openContext);
test.after.each(closeContext);

const read = { method: 'GET', path: 'kv/data/x' } as const;
const login = 'auth/kubernetes/login';
const lookup = 'auth/token/lookup-self';
const renew = 'auth/token/renew-self';

test('logs in with role and JWT, then uses the token', async (context) => {
  const { server, connect, recorded } = context;
  server.handler = routes({ [login]: () => granted('s.first'), 'kv/': () => fine });
  const client = connect(serviceAccount(context));
  await client.start();
  assert.equal(
    recorded.states.map(({ ready }) => ready),
    [false, true],
  );
  assert.equal(await client.request(read), { data: { fine: true } });
  assert.equal(server.to(login)[0]?.json, { role: 'svc', jwt: 'header.payload.signature' });
  assert.is(server.to(login)[0]?.headers['x-vault-token'], undefined);
  assert.is(server.to('kv/')[0]?.headers['x-vault-token'], 's.first');
});

test('many requests at once wait for one login', async (context) => {
  const { server, connect } = context;
  const gate = Promise.withResolvers<void>();
  server.handler = routes({
    [login]: async () => {
      await gate.promise;
      return granted('s.first');
    },
    'kv/': () => fine,
  });
  const client = connect(serviceAccount(context));
  const started = client.start();
  const requests = Array.from({ length: 20 }, () => client.request(read));
  await waitFor('the login', () => server.to(login).length > 0);
  gate.resolve();
  await Promise.all([started, ...requests]);
  assert.is(server.to(login).length, 1);
});

test('a refused token is replaced once for all requests, and these succeed', async (context) => {
  const { server, connect } = context;
  let valid = 's.1';
  server.handler = routes({
    [login]: () => granted(valid),
    'kv/': ({ headers }) => (headers['x-vault-token'] === valid ? fine : deadToken),
  });
  const client = connect(serviceAccount(context));
  await client.start();
  valid = 's.2';
  await Promise.all(Array.from({ length: 20 }, () => client.request(read)));
  assert.is(server.to(login).length, 2);
});

test('a refusal that stays is denied and names the capability and the path', async (context) => {
  const { server, connect } = context;
  server.handler = routes({ [login]: () => granted('s.1'), '': () => missingPolicy });
  const client = connect(serviceAccount(context));
  await client.start();
  const error = await vaultFailure(client.request({ method: 'POST', path: 'transit/encrypt/svc' }), 'denied');
  assert.match(error.message, /refuses update on transit\/encrypt\/svc/);
  assert.is(error.exitStatus, 77);
  assert.is(error.status, 403);
  assert.is(server.to('transit').length, 2);
  assert.is(server.to(login).length, 2);
});

test('a missing policy leads to few logins, however many requests are refused', async (context) => {
  const { server, connect, recorded } = context;
  server.handler = routes({ [login]: () => granted('s.1'), '': () => missingPolicy });
  const client = connect(serviceAccount(context));
  await client.start();
  for (let count = 0; count < 30; count++) await vaultFailure(client.request(read), 'denied');
  assert.is(server.to(login).length, 1 + 5);
  assert.is(server.to('kv/').length, 30 + 5);
  assert.is(recorded.states.at(-1)?.ready, true);
});

test('tokens that die at once lead to at most ten logins a minute', async (context) => {
  const { server, connect, recorded } = context;
  server.handler = routes({ [login]: () => granted('s.1'), 'kv/': () => deadToken });
  const client = connect(serviceAccount(context), { deadlineMs: 200 });
  await client.start();
  for (let count = 0; count < 15; count++) await rejection(client.request(read));
  assert.is(server.to(login).length, 1 + 10);
  assert.is(recorded.states.at(-1)?.ready, false);
});

test('the JWT is read again at each login', async (context) => {
  const { server, connect, put } = context;
  let valid = 's.1';
  server.handler = routes({
    [login]: () => granted(valid),
    'kv/': ({ headers }) => (headers['x-vault-token'] === valid ? fine : deadToken),
  });
  const client = connect(serviceAccount(context, 'jwt-one'));
  await client.start();
  valid = 's.2';
  put('jwt', 'jwt-two');
  await client.request(read);
  assert.equal(
    server.to(login).map(({ json }) => json.jwt),
    ['jwt-one', 'jwt-two'],
  );
});

test('starts while the key server is sealed, and gets ready by itself', async (context) => {
  const { server, connect, recorded } = context;
  let open = false;
  server.handler = routes({ [login]: () => (open ? granted('s.1') : sealed), 'kv/': () => fine });
  const client = connect(serviceAccount(context));
  await client.start();
  assert.is(recorded.states.at(-1)?.ready, false);
  assert.match(String(recorded.states.at(-1)?.reason), /sealed/);
  open = true;
  await waitFor('readiness', () => recorded.states.at(-1)?.ready);
  assert.equal(await client.request(read), { data: { fine: true } });
});

test('a request waits for the login that follows, but not beyond its deadline', async (context) => {
  const { server, connect } = context;
  server.handler = routes({ [login]: () => sealed });
  const client = connect(serviceAccount(context), { deadlineMs: 150 });
  await client.start();
  const error = await vaultFailure(client.request(read), 'unavailable');
  assert.match(error.message, /sealed/);
  assert.is(server.to('kv/').length, 0);
});

test('a login that took long to fail is followed by the next at once', async (context) => {
  const { server, connect, recorded } = context;
  server.handler = routes({
    [login]: async () => {
      await new Promise((resolve) => setTimeout(resolve, 600));
      return sealed;
    },
  });
  await connect(serviceAccount(context)).start();
  const [failed] = recorded.events.filter(({ event }) => event === 'vault.login.failed');
  assert.is(failed?.fields['retry_ms'], 0);
});

test('a refused login is told at once, with role and mount, and readiness says so', async (context) => {
  const { server, connect, recorded } = context;
  server.handler = routes({
    [login]: () => ({ status: 400, json: { errors: ['invalid role name "svc"'] } }),
  });
  const client = connect(serviceAccount(context));
  await client.start();
  const error = await vaultFailure(client.request(read), 'denied');
  assert.match(error.message, /auth\/kubernetes\/login as role svc: invalid role name "svc"/);
  assert.is(recorded.states.at(-1)?.reason, error.message);
  assert.is(server.to(login).length, 1);
});

test('logs in again before the end where renewal is not permitted', async (context) => {
  const { server, connect, recorded } = context;
  let count = 0;
  server.handler = routes({
    [login]: () => granted(`s.${++count}`, 1, true),
    [renew]: () => missingPolicy,
    'kv/': () => fine,
  });
  const client = connect(serviceAccount(context));
  await client.start();
  await waitFor('three logins', () => server.to(login).length >= 3);
  const asked = server.to(renew).map(({ headers }) => headers['x-vault-token']);
  assert.is(asked.length, new Set(asked).size, 'once of each token');
  await client.request(read);
  assert.is(recorded.states.at(-1)?.ready, true);
  assert.is(recorded.states.filter(({ ready }) => !ready).length, 1, 'only before the first login');
});

test('renews where that is permitted', async (context) => {
  const { server, connect } = context;
  server.handler = routes({ [login]: () => granted('s.1', 1, true), [renew]: () => granted('s.1', 1, true) });
  await connect(serviceAccount(context)).start();
  await waitFor('two renewals', () => server.to(renew).length >= 2);
  assert.is(server.to(login).length, 1);
  assert.is(server.to(renew)[0]?.headers['x-vault-token'], 's.1');
});

test('logs in again when renewal gains too little', async (context) => {
  const { server, connect } = context;
  server.handler = routes({
    [login]: () => granted('s.1', 2, true),
    [renew]: () => granted('s.1', 0.5, true),
  });
  await connect(serviceAccount(context)).start();
  await waitFor('the second login', () => server.to(login).length >= 2);
  assert.is(server.to(renew).length, 1);
});

test('is not ready once the token has ended and no other can be had', async (context) => {
  const { server, connect, recorded } = context;
  let away = false;
  server.handler = routes({ [login]: () => (away ? sealed : granted('s.1', 1)), 'kv/': () => fine });
  const client = connect(serviceAccount(context));
  await client.start();
  away = true;
  await client.request(read);
  await waitFor('not ready', () => recorded.states.at(-1)?.ready === false && recorded.states.length === 3);
  away = false;
  await waitFor('ready again', () => recorded.states.at(-1)?.ready);
});

test('a given token is looked up, and a policy may forbid that', async (context) => {
  const { server, connect, recorded } = context;
  server.handler = routes({ [lookup]: () => missingPolicy, 'kv/': () => fine });
  const client = connect({ method: 'token', token: 's.given' });
  await client.start();
  assert.is(recorded.states.at(-1)?.ready, true);
  await client.request(read);
  assert.is(server.to('kv/')[0]?.headers['x-vault-token'], 's.given');
});

test('a token that may renew itself but not look itself up is renewed before it ends', async (context) => {
  const { server, connect, recorded } = context;
  const ends = performance.now() + 4_000;
  server.handler = routes({
    [lookup]: () => missingPolicy,
    [renew]: () => (performance.now() < ends ? granted('s.given', 3600, true) : deadToken),
    'kv/': () => (server.to(renew).length > 0 ? fine : deadToken),
  });
  const client = connect({ method: 'token', token: 's.given' });
  await client.start();
  await waitFor('a renewal', () => server.to(renew).length > 0);
  await client.request(read);
  const renewals = recorded.events.filter(({ event }) => event === 'vault.renewal');
  assert.is(renewals[0]?.fields['lease_seconds'], 3600);
});

test('a token that can be neither looked up nor renewed is used, and both are asked once', async (context) => {
  const { server, connect } = context;
  server.handler = routes({ [lookup]: () => missingPolicy, [renew]: () => missingPolicy, 'kv/': () => fine });
  const client = connect({ method: 'token', token: 's.given' });
  await client.start();
  await waitFor('a second look', () => server.to(lookup).length === 2);
  await client.request(read);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.is(server.to(renew).length, 1);
  assert.is(server.to(lookup).length, 2);
});

test('a given token that is not valid is denied, and readiness says why', async (context) => {
  const { server, connect, recorded } = context;
  server.handler = routes({ '': () => deadToken });
  const client = connect({ method: 'token', token: 's.given' });
  await client.start();
  const error = await vaultFailure(client.request(read), 'denied');
  assert.match(error.message, /does not accept the token/);
  assert.is(recorded.states.at(-1)?.reason, error.message);
});

test('a given token that is revoked later makes requests denied', async (context) => {
  const { server, connect, recorded } = context;
  let revoked = false;
  server.handler = routes({
    [lookup]: () => (revoked ? deadToken : missingPolicy),
    'kv/': () => (revoked ? deadToken : fine),
  });
  const client = connect({ method: 'token', token: 's.given' });
  await client.start();
  await client.request(read);
  revoked = true;
  await vaultFailure(client.request(read), 'denied');
  assert.is(recorded.states.at(-1)?.ready, false);
});

test('a given token with an end is renewed', async (context) => {
  const { server, connect } = context;
  const data = { ttl: 1, expire_time: '2030-01-01T00:00:00Z', renewable: true };
  server.handler = routes({
    [lookup]: () => ({ status: 200, json: { data } }),
    [renew]: () => granted('s.given', 1, true),
  });
  await connect({ method: 'token', token: 's.given' }).start();
  await waitFor('a renewal', () => server.to(renew).length > 0);
});

test('a token file is trimmed, and read again when its token is refused', async (context) => {
  const { server, connect, put } = context;
  let valid = 's.old';
  const answer = ({ headers }: { headers: { 'x-vault-token'?: string | string[] } }) =>
    headers['x-vault-token'] === valid ? fine : deadToken;
  server.handler = routes({ '': answer as never });
  const path = put('token', '  s.old\n\n');
  const client = connect({ method: 'token-file', path });
  await client.start();
  await client.request(read);
  valid = 's.new';
  put('token', 's.new\n');
  await client.request(read);
  assert.is(server.to('kv/').at(-1)?.headers['x-vault-token'], 's.new');
});

test('an empty, absent or odd token file is waited for, and nothing of it is told', async (context) => {
  const { server, connect, put, recorded, folder } = context;
  server.handler = routes({ '': () => fine });
  for (const path of [put('empty', ' \n'), `${folder.path}/absent`, put('odd', 'secret words\nin lines')]) {
    const client = connect({ method: 'token-file', path }, { deadlineMs: 50 });
    await client.start();
    const error = await vaultFailure(client.request(read), 'unavailable');
    assert.ok(error.message.includes(path), error.message);
    await client.close();
  }
  assert.not.match(recorded.text(), /secret words/);
  const path = put('late', '');
  const client = connect({ method: 'token-file', path });
  await client.start();
  put('late', 's.late');
  await client.request(read);
  assert.is(server.to('kv/').at(-1)?.headers['x-vault-token'], 's.late');
});

test('tokens are registered for redaction and never told', async (context) => {
  const { server, connect, recorded } = context;
  const echo = { status: 403, json: { errors: ['no token s.registered-token and no jwt-to-hide'] } };
  server.handler = routes({
    [login]: () => granted('s.registered-token'),
    'kv/': () => ({ ...echo, status: 400 }),
  });
  const client = connect(serviceAccount(context, 'jwt-to-hide'));
  await client.start();
  assert.is(secrets.redact('a s.registered-token b'), 'a [redacted] b');
  const error = await vaultFailure(client.request(read), 'rejected');
  assert.not.match(error.message, /registered-token/);
  await client.close();
  assert.is(secrets.redact('a s.registered-token b'), 'a s.registered-token b', 'forgotten after the end');
  assert.not.match(recorded.text(), /registered-token/);
  server.handler = routes({ [login]: () => echo });
  const refused = connect(serviceAccount(context, 'jwt-to-hide'));
  await refused.start();
  assert.not.match(`${(await vaultFailure(refused.request(read), 'denied')).message}`, /jwt-to-hide/);
  assert.not.match(recorded.text(), /jwt-to-hide/);
});

test('after close nothing goes on, and who waits is told', async (context) => {
  const { server, connect } = context;
  server.handler = routes({ [login]: () => undefined });
  const client = connect(serviceAccount(context));
  const started = client.start();
  const waiting = vaultFailure(client.request(read), 'unavailable');
  await waitFor('the login', () => server.to(login).length > 0);
  await client.close();
  await started;
  assert.match((await waiting).message, /was closed/);
  await vaultFailure(client.request(read), 'unavailable');
  assert.is(server.to(login).length, 1);
});

test.run();
