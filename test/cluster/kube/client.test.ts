import { once } from 'node:events';
import { Agent } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KubeClient, KubeError } from '../../../src/cluster/kube/client.ts';
import { kubeClientOver } from '../../../src/cluster/kube/create-client.ts';
import { leadersClient } from '../../../src/cluster/kube/lease.ts';
import { type FakeKube, startFakeKube, status } from '../../support/fake-kube.ts';

interface Context {
  kube: FakeKube;
  client: KubeClient;
  /** For each request, whether the credentials before had been refused. */
  asked: boolean[];
}

const test = suite<Context>('client of an API server');

test.before.each(async (context) => {
  context.kube = await startFakeKube();
  context.asked = [];
  const agent = new Agent({ keepAlive: true });
  context.client = kubeClientOver({
    server: new URL(`${context.kube.url}/prefix/`),
    origin: 'test',
    async credentials(refused) {
      context.asked.push(refused !== undefined);
      return { headers: { authorization: `Bearer ${refused === undefined ? 'old' : 'new'}` }, agent };
    },
    close: () => agent.destroy(),
  });
});

test.after.each(async ({ kube, client }) => {
  client.close();
  await kube.stop();
});

async function failure(work: Promise<unknown>): Promise<KubeError> {
  return work.then(
    () => assert.unreachable(),
    (error) => error,
  ) as Promise<KubeError>;
}

test('sends what it is told to, below the prefix of the server', async ({ kube, client }) => {
  const bodies: string[] = [];
  kube.answer('get', async (_request, response) => {
    const incoming = response.req;
    for await (const chunk of incoming) bodies.push(String(chunk));
    response.end('{"a":1}');
  });
  const answer = await client.request<{ a: number }>({
    ...{
      method: 'PATCH',
      path: '/api/v1/x',
      body: { name: 'ä' },
      contentType: 'application/merge-patch+json',
    },
    query: { fieldManager: 'svc', dryRun: undefined, force: true },
  });
  assert.equal(answer, { a: 1 });
  const [{ path, query, headers } = assert.unreachable() as never] = kube.requests;
  assert.is(path, '/prefix/api/v1/x');
  assert.equal(query, { fieldManager: 'svc', force: 'true' });
  assert.equal(bodies, ['{"name":"ä"}']);
  assert.is(headers['content-type'], 'application/merge-patch+json');
  assert.is(headers.authorization, 'Bearer old');
});

for (const [code, expected] of [
  [401, 'KUBE_UNAUTHENTICATED'],
  [403, 'KUBE_DENIED'],
  [404, 'KUBE_NOT_FOUND'],
  [409, 'KUBE_CONFLICT'],
  [410, 'KUBE_GONE'],
  [422, 'KUBE_REFUSED'],
  [429, 'KUBE_UNAVAILABLE'],
  [500, 'KUBE_UNAVAILABLE'],
] as const) {
  test(`takes ${code} for ${expected}`, async ({ kube, client }) => {
    kube.answer('get', status(code, 'because', { 'retry-after': '3000' }), 2);
    const error = await failure(client.request({ path: '/x' }));
    assert.is(error.code, expected);
    assert.is(error.status, code);
    assert.is(error.reason, 'Fake');
    assert.is(error.retryAfterMs, 3_000_000);
    assert.is(error.message, `GET /x: ${code}: because`);
  });
}

test('reads credentials again that were refused, once', async ({ kube, client, asked }) => {
  kube.answer('get', status(401));
  await client.request({ path: '/x' });
  assert.equal(asked, [false, true]);
  assert.equal(
    kube.requests.map(({ headers }) => headers.authorization),
    ['Bearer old', 'Bearer new'],
  );
  kube.answer('get', status(401), 2);
  assert.is((await failure(client.request({ path: '/x' }))).code, 'KUBE_UNAUTHENTICATED');
  assert.is(kube.requests.length, 4);
});

test('does not count the time in which somebody logs in', async ({ kube }) => {
  const agent = new Agent();
  const client = kubeClientOver({
    ...{ server: new URL(kube.url), origin: 'test', close: () => agent.destroy() },
    async credentials() {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      return { headers: {}, agent };
    },
  });
  await client.request({ path: '/x', timeoutMs: 1_000 });
  const stop = AbortSignal.timeout(20);
  assert.is(await failure(client.request({ path: '/x', signal: stop })), stop.reason);
  assert.is(kube.requests.length, 1);
  client.close();
});

test('waits as long as it is asked to, within the time of the request', async ({ kube, client }) => {
  kube.answer('get', status(429, 'busy', { 'retry-after': '0.05' }));
  kube.answer('get', status(503, 'starting', { 'retry-after': '0.05' }));
  await client.request({ path: '/x' });
  assert.is(kube.requests.length, 3);
  kube.answer('get', status(429, 'busy', { 'retry-after': '0.2' }));
  assert.is((await failure(client.request({ path: '/x', timeoutMs: 150 }))).retryAfterMs, 200);
  kube.answer('get', status(409, 'no', { 'retry-after': '0.05' }));
  assert.is((await failure(client.request({ path: '/x' }))).code, 'KUBE_CONFLICT');
  kube.answer('get', status(429, 'busy', { 'retry-after': '0.001' }), 20);
  assert.is((await failure(client.request({ path: '/x' }))).status, 429);
  assert.is(kube.requests.length, 3 + 1 + 1 + 11);
});

test('puts no token into its errors', async ({ kube, client }) => {
  kube.answer('get', status(403, 'x'.repeat(10_000)));
  const error = await failure(client.request({ path: '/x' }));
  assert.not.match(JSON.stringify([error.message, error.details, error.stack, error.nextStep]), /Bearer|old/);
  assert.ok(error.message.length < 400);
});

test('gives up on a server that does not answer, or not to the end', async ({ kube, client }) => {
  kube.answer('get', () => {});
  assert.match(
    (await failure(client.request({ path: '/x', timeoutMs: 50 }))).message,
    /no answer within 50 ms/,
  );
  kube.answer('get', (_request, response) => void response.write('{'));
  assert.is((await failure(client.request({ path: '/x', timeoutMs: 50 }))).code, 'KUBE_UNAVAILABLE');
  kube.answer('get', () => {});
  assert.is((await failure(client.stream({ path: '/x', timeoutMs: 50 }))).code, 'KUBE_UNAVAILABLE');
});

test('takes a lost connection for an absence', async ({ kube, client }) => {
  kube.answer('get', (_request, response) => void response.destroy());
  assert.is((await failure(client.request({ path: '/x' }))).code, 'KUBE_UNAVAILABLE');
  kube.answer('get', (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"half":');
    setTimeout(() => response.destroy(), 20);
  });
  assert.is((await failure(client.request({ path: '/x' }))).code, 'KUBE_UNAVAILABLE');
  await kube.stop();
  assert.is((await failure(client.request({ path: '/x' }))).code, 'KUBE_UNAVAILABLE');
});

test('reads whoever leads, and sends no write that another replica may make by now', async (context) => {
  const { kube, client, asked } = context;
  kube.answer('get', (_request, response) => void response.end('{}'));
  // the end of its term comes while the credentials are read
  const leadership = {
    get leading() {
      return asked.length < 2;
    },
    onChange: () => () => {},
  };
  const leaders = leadersClient(client, leadership);
  await leaders.request({ method: 'PATCH', path: '/x', body: {} });
  assert.is(leadership.leading, true);
  const late = await failure(leaders.request({ method: 'PATCH', path: '/x', body: {} }));
  assert.is(late.code, 'KUBE_NOT_LEADING');
  assert.is(kube.requests.length, 1);
  await leaders.request({ path: '/x' });
  assert.is(kube.requests.length, 2);
});

test('refuses answers that are too long, or no JSON', async ({ kube, client }) => {
  kube.answer('get', (_request, response) => void response.end(`"${'x'.repeat(100)}"`));
  assert.match((await failure(client.request({ path: '/x', maxBytes: 100 }))).message, /over 100 bytes/);
  kube.answer('get', (_request, response) => void response.end('<html>'));
  assert.is((await failure(client.request({ path: '/x' }))).code, 'KUBE_PROTOCOL');
});

test('stops with the reason of the caller', async ({ kube, client }) => {
  const stop = new AbortController();
  kube.answer('get', () => setTimeout(() => stop.abort(new Error('enough')), 20));
  assert.is((await failure(client.request({ path: '/x', signal: stop.signal }))).message, 'enough');
  assert.is((await failure(client.request({ path: '/x', signal: stop.signal }))).message, 'enough');
  assert.is(kube.requests.length, 1);
});

test('ends a stream when the caller says so, and does not time it', async ({ kube, client }) => {
  const stop = new AbortController();
  kube.answer('get', (_request, response) => void response.write('one\n'));
  const stream = await client.stream({ path: '/x', signal: stop.signal, timeoutMs: 50 });
  const [first] = await once(stream, 'data');
  assert.is(String(first), 'one\n');
  await new Promise((resolve) => setTimeout(resolve, 120));
  assert.is(stream.destroyed, false);
  stop.abort(new Error('enough'));
  const [error] = await once(stream, 'error');
  assert.ok(error);
});

test.run();
