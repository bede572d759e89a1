import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startFaultProxy } from './fault-proxy.ts';
import { http } from './http.ts';
import type { FaultProxy } from './types.ts';
import { waitFor } from './wait-for.ts';

interface Context {
  origin: Server;
  seen: string[];
  faults: FaultProxy;
}

const test = suite<Context>('fault proxy');
const BODY = 'x'.repeat(100_000);

test.before(async (context) => {
  context.seen = [];
  context.origin = createServer((request, response) => {
    context.seen.push(`${request.method} ${request.url}`);
    request.resume().once('end', () => response.end(BODY));
  }).listen(0, '127.0.0.1');
  await once(context.origin, 'listening');
});

test.before.each(async (context) => {
  context.seen.length = 0;
  context.faults = await startFaultProxy(
    `http://127.0.0.1:${(context.origin.address() as AddressInfo).port}`,
  );
});

test.after.each(async ({ faults }) => {
  await faults.stop();
});

test.after(({ origin }) => {
  origin.close();
  origin.closeAllConnections();
});

const failure = (url: string, timeoutMs = 30_000) =>
  http(url, { timeoutMs }).then(
    () => 'answered',
    (error) => error.code as string,
  );

test('passes requests on and counts them', async ({ faults, seen }) => {
  const answer = await http(`${faults.url}/a`, { method: 'PUT', body: BODY });
  assert.is(answer.text, BODY);
  assert.equal(seen, ['PUT /a']);
  assert.is(faults.stats.connections, 1);
  assert.ok(faults.stats.bytesToServer > BODY.length);
  assert.ok(faults.stats.bytesToClient > BODY.length);
});

test('refuses connections until healed', async ({ faults }) => {
  await faults.refuse();
  assert.is(await failure(faults.url), 'ECONNREFUSED');
  await faults.heal();
  assert.is((await http(faults.url)).status, 200);
});

test('hangs without a word and lets the bytes flow when healed', async ({ faults, seen }) => {
  faults.hang();
  const waiting = http(faults.url);
  assert.is(await failure(faults.url, 200), 'ABORT_ERR');
  assert.equal(seen, []);
  await faults.heal();
  assert.is((await waiting).text, BODY);
});

test('delays each message', async ({ faults }) => {
  faults.delay(150);
  const start = performance.now();
  await http(faults.url);
  assert.ok(performance.now() - start >= 299);
});

test('gives canned answers to matching requests, so many times', async ({ faults, seen }) => {
  faults.answer(503, 'busy', { count: 2, headers: { 'retry-after': '1' }, when: /^PUT / });
  const put = () => http(`${faults.url}/k`, { method: 'PUT', body: BODY });
  assert.is((await http(faults.url)).status, 200);
  const busy = [await put(), await put()];
  assert.equal(
    busy.map(({ status, text }) => [status, text]),
    [
      [503, 'busy'],
      [503, 'busy'],
    ],
  );
  assert.is((await put()).status, 200);
  assert.equal(seen, ['GET /', 'PUT /k']);
  assert.is(faults.stats.answered, 2);
});

test('cuts answers after so many bytes, by reset or by FIN', async ({ faults }) => {
  for (const manner of ['reset', 'fin'] as const) {
    const before = faults.stats.bytesToClient;
    faults.cutAfter(50_000, 'to-client', manner, { count: 1 });
    assert.is(await failure(faults.url), 'ECONNRESET');
    assert.is(faults.stats.bytesToClient - before, 50_000);
    assert.is((await http(faults.url)).text, BODY);
  }
});

for (const manner of ['fin', 'reset'] as const) {
  test(`cuts what a client sends by ${manner}, as the target sees it`, async () => {
    const received: Buffer[] = [];
    let ending = '';
    const target = createTcpServer((socket) => {
      socket.on('data', (chunk) => received.push(chunk));
      socket.once('end', () => (ending = 'fin')).once('error', () => (ending = 'reset'));
    }).listen(0, '127.0.0.1');
    await once(target, 'listening');
    const faults = await startFaultProxy(`http://127.0.0.1:${(target.address() as AddressInfo).port}`);
    faults.cutAfter(12_345, 'to-server', manner);
    const client = connect(faults.port, '127.0.0.1').on('error', () => undefined);
    client.write(BODY);
    await waitFor('the cut', () => ending);
    assert.is(ending, manner);
    assert.is(Buffer.concat(received).length, 12_345);
    client.destroy();
    await faults.stop();
    target.close();
  });

  test(`passes a client's own ${manner} on`, async () => {
    let ending = '';
    const target = createTcpServer((socket) => {
      socket.resume();
      socket.once('end', () => (ending = 'fin')).once('error', () => (ending = 'reset'));
    }).listen(0, '127.0.0.1');
    await once(target, 'listening');
    const faults = await startFaultProxy(`http://127.0.0.1:${(target.address() as AddressInfo).port}`);
    const client = connect(faults.port, '127.0.0.1');
    client.write('some');
    await waitFor('the bytes to pass', () => faults.stats.bytesToServer === 4);
    if (manner === 'fin') client.end();
    else client.resetAndDestroy();
    await waitFor('the end', () => ending);
    assert.is(ending, manner);
    client.destroy();
    await faults.stop();
    target.close();
  });
}

test.run();
