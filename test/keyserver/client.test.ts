import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { waitFor } from '../support/wait-for.ts';
import {
  type ClientContext,
  closeContext,
  fine,
  granted,
  openContext,
  routes,
  sealed,
  serviceAccount,
} from './client-fixture.ts';
import type { Handler, KeyServerReply } from './fake-key-server.ts';
import { rejection, vaultFailure } from './rejection.ts';

const test = suite<ClientContext>('key server client');

test.before.each(openContext);
test.after.each(closeContext);

const read = { method: 'GET', path: 'kv/data/x' } as const;

async function started(context: ClientContext, handler: Handler, limits = {}) {
  context.server.handler = routes({ 'auth/kubernetes/login': () => granted('s.1'), 'kv/': handler });
  const client = context.connect(serviceAccount(context), limits);
  await client.start();
  return client;
}

/** Gives the answers one after the other, the last one from then on. */
function inTurn(...answers: KeyServerReply[]): Handler {
  return () => (answers.length > 1 ? answers.shift() : answers[0]);
}

for (const answer of [
  sealed,
  { status: 429, json: { errors: ['too many requests'] } },
  { status: 500, json: { errors: ['internal error'] } },
  { status: 502 },
]) {
  test(`tries again after ${answer.status}, and succeeds when that has passed`, async (context) => {
    const client = await started(context, inTurn(answer, answer, fine));
    assert.equal(await client.request(read), { data: { fine: true } });
    assert.is(context.server.to('kv/').length, 3);
  });
}

test('gives up as unavailable after so many attempts', async (context) => {
  const client = await started(context, () => sealed, { attempts: 3 });
  const error = await vaultFailure(client.request(read), 'unavailable');
  assert.is(context.server.to('kv/').length, 3);
  assert.is(error.status, 503);
  assert.is(error.path, 'kv/data/x');
  assert.is(error.exitStatus, 69);
  assert.match(error.message, /Vault is sealed/);
});

test('gives up at the deadline, attempts left or not', async (context) => {
  const client = await started(context, () => sealed, { attempts: 1_000, deadlineMs: 300 });
  await vaultFailure(client.request(read), 'unavailable');
  assert.ok(context.server.to('kv/').length < 50);
});

test('a hanging attempt leaves time for another', async (context) => {
  let count = 0;
  const client = await started(context, () => (++count === 1 ? undefined : fine), { deadlineMs: 2_500 });
  assert.equal(await client.request(read), { data: { fine: true } });
  assert.is(count, 2);
});

test('a cut connection is tried again', async (context) => {
  let count = 0;
  const client = await started(context, ({ socket }) => {
    if (++count > 1) return fine;
    socket.destroy();
    return undefined;
  });
  assert.equal(await client.request(read), { data: { fine: true } });
});

for (const [status, kind, exitStatus] of [
  [400, 'rejected', 70],
  [404, 'not-found', 78],
  [405, 'rejected', 70],
  [501, 'rejected', 70],
] as const) {
  test(`${status} is ${kind} at once`, async (context) => {
    const client = await started(context, () => ({ status, json: { errors: ['because'] } }));
    const error = await vaultFailure(client.request(read), kind);
    assert.is(context.server.to('kv/').length, 1);
    assert.is(error.exitStatus, exitStatus);
    assert.is(error.status, status);
    assert.match(error.message, /because/);
    assert.is((await client.exchange(read)).status, status);
  });
}

test('aborts while it waits for an answer, between attempts, and for its turn', async (context) => {
  const reason = new Error('client went away');
  const hanging = await started(context, () => undefined, { concurrency: 1 });
  const first = new AbortController();
  const second = new AbortController();
  const inFlight = rejection(hanging.request({ ...read, signal: first.signal }));
  const queued = rejection(hanging.request({ ...read, signal: second.signal }));
  await waitFor('the request', () => context.server.to('kv/').length > 0);
  second.abort(reason);
  assert.is(await queued, reason);
  first.abort(reason);
  assert.is(await inFlight, reason);
  const third = new AbortController();
  const retrying = await started(context, () => sealed);
  const pausing = rejection(retrying.request({ ...read, signal: third.signal }));
  await waitFor('an attempt', () => context.server.to('kv/').length > 1);
  third.abort(reason);
  assert.is(await pausing, reason);
});

test('keeps no more requests in flight than allowed', async (context) => {
  let now = 0;
  let most = 0;
  const client = await started(
    context,
    async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now--;
      return fine;
    },
    { concurrency: 3 },
  );
  await Promise.all(Array.from({ length: 20 }, () => client.request(read)));
  assert.is(most, 3);
  assert.is(context.server.to('kv/').length, 20);
});

test('a request that gets no turn in time is unavailable', async (context) => {
  const client = await started(context, () => undefined, { concurrency: 1, deadlineMs: 100 });
  const requests = [client.request(read), client.request(read)];
  await Promise.all(requests.map((request) => vaultFailure(request, 'unavailable')));
});

test('warns when certificates are not verified', async ({ connect, recorded, server }) => {
  const { createVaultClient } = await import('../../src/keyserver/client.ts');
  const url = new URL('https://vault.test:8200');
  const endpoint = { url, skipVerify: true, caFiles: [], caPath: undefined, client: undefined };
  const { log, onState } = recorded;
  const config = { endpoint, auth: { method: 'token', token: 's.a' }, namespace: undefined } as const;
  await createVaultClient({ component: 'test', config, log, onState }).close();
  assert.equal(
    recorded.events.map(({ level, event }) => [level, event]),
    [['warn', 'vault.tls.unverified']],
  );
  await connect({ method: 'token', token: 's.a' }, {}, server.url).close();
  assert.is(recorded.events.length, 1);
});

test.run();
