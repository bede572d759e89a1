import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Decision } from '../../../../src/plugins/operator/webhook/decide.ts';
import { createHandler, createWebhookMetrics } from '../../../../src/plugins/operator/webhook/handler.ts';
import { startWebhookServer } from '../../../../src/plugins/operator/webhook/start-webhook-server.ts';
import { createMetrics } from '../../../../src/runtime/health/create-metrics.ts';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { http } from '../../../support/http.ts';
import { quietLog as log } from '../../../support/quiet-log.ts';
import { protocolOf } from '../../../support/tls-versions.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { reviewOf } from '../webhook/support/review-of.ts';

export const idle = true;
export const slow = true;

const test = suite('what anybody who reaches the webhook can send');
const authority = createCertificateAuthority();
const ca = authority.cert;
const certificate = { ...authority.issue({ commonName: 'webhook' }), ca };
const metrics = createWebhookMetrics(await createMetrics({ version: '0', component: 'operator' }));
const skip: Decision = { kind: 'skip', reason: 'none of ours' };

interface Target {
  readonly url: string;
  open(): Promise<TLSSocket>;
}

async function attacked(
  most: number,
  use: (target: Target) => Promise<void>,
  decide = () => Promise.resolve(skip),
): Promise<void> {
  const handle = createHandler({ decide, metrics, log });
  const server = await startWebhookServer({ host: '127.0.0.1', port: 0 }, { certificate, handle, most });
  const port = Number(server.address.split(':')[1]);
  const opened: TLSSocket[] = [];
  const open = async () => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
    socket.on('error', () => {});
    opened.push(socket);
    await once(socket, 'secureConnect');
    return socket;
  };
  try {
    await use({ url: `https://${server.address}`, open });
  } finally {
    for (const socket of opened) socket.destroy();
    await server.drain(0);
  }
}

const post = (url: string, body: string) => http(`${url}/mutate`, { method: 'POST', body, ca });
const review = JSON.stringify(reviewOf({ spec: { containers: [] } }));

const length = Buffer.byteLength(review);
const oneRequest = `POST /mutate HTTP/1.1\r\nHost: webhook\r\nContent-Length: ${length}\r\n\r\n${review}`;
const pipelined = oneRequest.repeat(300);

test('nobody announces other keys as often as they like: TLS 1.3 is refused', async () => {
  await attacked(4, async ({ url }) => {
    const { hostname: host, port } = new URL(url);
    assert.is(await protocolOf({ host, port: Number(port) }, 'TLSv1.3'), undefined);
    assert.is(await protocolOf({ host, port: Number(port) }, 'TLSv1.2'), 'TLSv1.2');
  });
});

test('a target that is no URL does not end the process', () =>
  attacked(10, async ({ open, url }) => {
    const socket = await open();
    socket.write('GET // HTTP/1.1\r\nHost: webhook\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 404 /);
    assert.is((await post(url, review)).status, 200);
  }));

for (const [name, object] of [
  ['without metadata', { metadata: null, spec: { containers: [] } }],
  ['with metadata that is a list', { metadata: [], spec: { containers: [] } }],
] as const) {
  test(`a pod ${name} is refused`, () =>
    attacked(10, async ({ url }) => {
      const { status } = await post(url, JSON.stringify(reviewOf(object)));
      assert.is(status, object.metadata === null ? 200 : 400);
      assert.is((await post(url, review)).status, 200);
    }));
}

test('a review that is nested without end is refused', () =>
  attacked(10, async ({ url }) => {
    const text = review.replace('"containers":[]', `"containers":${'['.repeat(2_000_000)}`);
    const { status, text: why } = await post(url, text);
    assert.is(status, 400);
    assert.match(why, /more than 100 levels/);
  }));

test('connections that never begin their handshake give way', () =>
  attacked(8, async ({ url }) => {
    const { hostname: host, port } = new URL(url);
    const silent = Array.from({ length: 20 }, () => connectTcp(Number(port), host).on('error', () => {}));
    await Promise.all(silent.map((socket) => once(socket, 'connect')));
    assert.is((await post(url, review)).status, 200);
    for (const socket of silent) socket.destroy();
  }));

test('connections of another address that say nothing keep no place from reviews, however many come', () =>
  attacked(48, async ({ url }) => {
    const { port } = new URL(url);
    const at = { host: '127.0.0.1', port: Number(port), localAddress: '127.0.0.2' };
    let isOpen = true;
    const silent = new Set<Socket>();
    const hold = (): void => {
      if (!isOpen) return;
      const socket = connectTcp(at).on('error', () => {});
      silent.add(socket);
      socket.once('close', () => {
        silent.delete(socket);
        setImmediate().then(hold);
      });
    };
    for (let count = 0; count < 1_100; count++) hold();
    await Promise.all([...silent].map((socket) => once(socket, 'connect')));
    for (let count = 0; count < 30; count++) assert.is((await post(url, review)).status, 200);
    isOpen = false;
    for (const socket of silent) socket.destroy();
  }));

test('a connection with hundreds of reviews that wait for their decision is closed', async () => {
  let decided = 0;
  const decide = async (): Promise<Decision> => {
    decided += 1;
    await setTimeout(200);
    return skip;
  };
  await attacked(
    10,
    async ({ url, open }) => {
      const socket = await open();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.resume().write(pipelined);
      await closed;
      assert.ok(decided <= 8, `${decided} at a time`);
      assert.is((await post(url, review)).status, 200);
    },
    decide,
  );
});

test('connections that say nothing give way', () =>
  attacked(8, async ({ url, open }) => {
    const silent = await Promise.all(Array.from({ length: 20 }, open));
    assert.is((await post(url, review)).status, 200);
    assert.ok(silent.filter(({ readyState }) => readyState === 'open').length <= 8);
  }));

const mebibyte = 1024 * 1024;

/** Connections that say they send so much, and send a part of it. */
async function unfinished(open: Target['open'], count: number, claimed: number, sent: number) {
  const sockets = await Promise.all(Array.from({ length: count }, open));
  for (const socket of sockets) {
    socket.write(`POST /mutate HTTP/1.1\r\nHost: webhook\r\nContent-Length: ${claimed}\r\n\r\n`);
    if (sent > 0) socket.write(Buffer.alloc(sent, ' '));
  }
  return sockets;
}

test('more connections than are kept are answered one after the other', () =>
  attacked(4, async ({ url }) => {
    const all = await Promise.all(Array.from({ length: 60 }, () => post(url, review)));
    assert.ok(all.every(({ status }) => status === 200));
  }));

test('connections that are kept give way when they have been answered', () =>
  attacked(4, async ({ url, open }) => {
    const kept: TLSSocket[] = [];
    for (let count = 0; count < 4; count++) {
      const socket = await open();
      kept.push(socket);
      socket.write(oneRequest);
      await once(socket, 'data');
    }
    const first = new Promise((resolve) => kept[0]?.once('close', resolve));
    assert.is((await post(url, review)).status, 200);
    await first;
    assert.is(kept[3]?.readyState, 'open');
  }));

test('a length that no pod has is refused unread', () =>
  attacked(10, async ({ url, open }) => {
    const [socket] = await unfinished(open, 1, 9_000_000, 0);
    const [answer] = (await once(socket as TLSSocket, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 413 .*\r\nconnection: close\r\n/is);
    assert.is((await post(url, review)).status, 200);
  }));

for (const sent of [0, 3 * mebibyte]) {
  test(`large reviews that never end (${sent} bytes of each are sent) give way to others`, () =>
    attacked(64, async ({ url, open }) => {
      const slow = await unfinished(open, 12, 4 * mebibyte, sent);
      const closed = slow.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      assert.is((await post(url, review)).status, 200);
      await Promise.race(closed);
    }));
}

test('reviews of an unknown length are read, as far as any is', () =>
  attacked(64, async ({ url, open }) => {
    const chunked = async (body: string) => {
      const socket = await open();
      const head = 'POST /mutate HTTP/1.1\r\nHost: webhook\r\nTransfer-Encoding: chunked\r\n\r\n';
      socket.write(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return answer.toString();
    };
    assert.match(await chunked(review), /^HTTP\/1\.1 200 /);
    assert.match(await chunked(' '.repeat(5 * mebibyte)), /^HTTP\/1\.1 413 /);
    assert.is((await post(url, review)).status, 200);
  }));

test('one that turns out to be too long is answered, and its connection closed', () =>
  attacked(64, async ({ url, open }) => {
    const socket = await open();
    const answered = once(socket, 'data') as Promise<[Buffer]>;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write('POST /mutate HTTP/1.1\r\nHost: webhook\r\nTransfer-Encoding: chunked\r\n\r\n');
    const piece = 64 * 1024;
    for (let sent = 0; sent <= 4 * mebibyte; sent += piece) {
      socket.write(`${piece.toString(16)}\r\n${' '.repeat(piece)}\r\n`);
      await setImmediate();
    }
    assert.match(String((await answered)[0]), /^HTTP\/1\.1 413 .*\r\nconnection: close\r\n/is);
    await closed;
    assert.is((await post(url, review)).status, 200);
  }));

test('a review in a great many pieces is one review', () =>
  attacked(64, async ({ open }) => {
    const socket = await open();
    socket.write(`POST /mutate HTTP/1.1\r\nHost: webhook\r\nContent-Length: ${length}\r\n\r\n`);
    const answered = once(socket, 'data');
    for (const byte of Buffer.from(review)) socket.write(Buffer.of(byte));
    assert.match(String((await answered)[0]), /^HTTP\/1\.1 200 /);
  }));

for (const [status, line] of [
  [404, 'POST /other HTTP/1.1'],
  [405, 'PUT /mutate HTTP/1.1'],
] as const)
  test(`the body of a request that is answered with ${status} is not read`, () =>
    attacked(10, async ({ open }) => {
      const socket = await open();
      socket.write(`${line}\r\nHost: webhook\r\nTransfer-Encoding: chunked\r\n\r\n`);
      assert.match(String((await once(socket, 'data'))[0]), new RegExp(`^HTTP/1\\.1 ${status} `));
      socket.resume();
      await waitFor('the connection to be closed', () => socket.closed, { timeoutMs: 5_000 });
    }));

test.run();
