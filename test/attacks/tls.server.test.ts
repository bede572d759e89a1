import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../support/http.ts';
import { createMemoryCgroup, type MemoryCgroup } from '../support/limit-cgroup.ts';
import { repetitions } from '../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { protocolOf } from '../support/tls-versions.ts';
import { waitFor } from '../support/wait-for.ts';
import { Crowd, settled } from './support/crowd.ts';
import { createListenerCertificate } from './support/listener-certificate.ts';

const test = suite('whoever reaches the TLS listener of the proxy, without keys');
const MiB = 1024 * 1024;
const certificate = createListenerCertificate();
const { ca } = certificate;
const env = {
  SVC_PROXY_ACCESS_KEY_ID: 'AKCALLER',
  SVC_PROXY_SECRET_ACCESS_KEY: 'the-secret-of-the-callers',
  ...certificate.env,
};

let rig: Rig;
let proxy: RiggedProxy;
let cgroup: MemoryCgroup;
let crowd: Crowd;

test.before(async () => {
  rig = await startRig();
});
test.before.each(async () => {
  cgroup = createMemoryCgroup(128 * MiB);
  proxy = await rig.proxy({ env, under: cgroup.under });
  crowd = new Crowd(proxy.url);
});
test.after.each(async () => {
  crowd.end();
  await proxy.stop();
  await cgroup.remove();
});
test.after(async () => {
  await rig?.stop();
  await certificate.remove();
});

/** Alive by its own health, not killed for its memory, and the others are served. */
async function isWell(attack: string): Promise<void> {
  const { status } = await http(`${proxy.health}/healthz`);
  assert.is(status, 200, attack);
  assert.is(cgroup.killed(), 0, attack);
  // a refusal by the signature shows that the request was read
  await waitFor(
    `an answer while there are ${attack}`,
    async () => (await http(proxy.url, { ca })).status === 403,
  );
}

const upload = 'PUT /bucket/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n';

test('a connection too many while 512 send slowly is refused, and ends nothing else', async () => {
  const slow = await crowd.established(512);
  for (const socket of slow) socket.write(upload);
  const trickle = setInterval(() => {
    for (const socket of slow) socket.write('x');
  }, 100);
  const late = new Crowd(proxy.url);
  await setTimeout(300);
  try {
    for (const count of [2, 60]) {
      await late.established(count);
      const { status } = await http(`${proxy.health}/healthz`);
      assert.is(status, 200);
    }
  } finally {
    clearInterval(trickle);
    late.end();
  }
  crowd.end();
  await isWell('none any more');
});

/** What a client sends first. */
async function clientHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = connectTls({ host: '127.0.0.1', port }).on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  server.close();
  return bytes;
}

/** A handshake message of the largest size that OpenSSL accepts, without its last bytes, in records of 16 KiB. */
function longHello(): Buffer {
  const length = 131_000;
  const message = Buffer.concat([Buffer.of(1, 1, 0xff, 0xb8), Buffer.alloc(length - 100, 0x20)]);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += 16_384) {
    const piece = message.subarray(at, at + 16_384);
    records.push(Buffer.of(22, 3, 1, piece.length >> 8, piece.length & 255), piece);
  }
  return Buffer.concat(records);
}

async function sendEach(count: number, bytes: Uint8Array): Promise<void> {
  for (let left = count; left > 0; left--) {
    crowd.openTcp().write(bytes);
    if (left % 20 === 0) await setTimeout(5);
  }
}

async function trickle(count: number, bytes: Uint8Array): Promise<void> {
  const sockets = Array.from({ length: count }, () => crowd.openTcp());
  for (const byte of bytes.subarray(0, 100)) {
    for (const socket of sockets) socket.write(Buffer.of(byte));
    await setTimeout(10);
  }
}

/** Ends handshakes after the first, the second or no answer of the proxy, by turns, in the midst of what it sends. */
async function tear(count: number, atOnce: number): Promise<void> {
  const tearOne = async (turn: number) => {
    const socket = connectTls({ ...crowd.address, rejectUnauthorized: false }).on('error', () => undefined);
    const ended = settled(socket, turn % 3 === 0 ? 'connect' : turn % 3 === 1 ? 'session' : 'secureConnect');
    await Promise.race([ended, setTimeout(2_000)]);
    socket.destroy();
  };
  for (let turn = 0; turn < count; turn += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, index) => tearOne(turn + index)));
}

/** @returns how many of that many connections the proxy lets renegotiate */
async function renegotiate(connections: number): Promise<number> {
  const again = async () => {
    const options = { maxVersion: 'TLSv1.2', rejectUnauthorized: false } as const;
    const socket = crowd.add(connectTls({ ...crowd.address, ...options }));
    await settled(socket, 'secureConnect');
    const { promise, resolve } = Promise.withResolvers<number>();
    socket.on('close', () => resolve(0)).on('error', () => resolve(0));
    socket.renegotiate({}, (error) => resolve(error === null ? 1 : 0));
    return Promise.race([promise, setTimeout(1_000, 0)]);
  };
  const all = await Promise.all(Array.from({ length: connections }, again));
  return all.reduce((sum, one) => sum + one, 0);
}

/** Bodies in TLS records of one byte each. */
async function sendRecordsOfOneByte(connections: number, bytes: number): Promise<void> {
  const sockets = (await crowd.established(connections)) as TLSSocket[];
  await Promise.all(sockets.map((socket) => oneByOne(socket, bytes)));
}

async function oneByOne(socket: TLSSocket, bytes: number): Promise<void> {
  socket.setNoDelay(true);
  socket.write(upload);
  for (let left = bytes; left > 0 && !socket.destroyed; left--)
    await new Promise((resolve) => socket.write('x', resolve));
}

const attacks: Readonly<Record<string, () => Promise<void>>> = {
  'connections that say nothing': () => sendEach(1_500, Buffer.alloc(0)),
  'handshakes that stop after their first message': async () => sendEach(1_500, await clientHello()),
  'handshakes that never end their first message': async () => trickle(600, await clientHello()),
  'first messages of 128 KiB': () => sendEach(600, longHello()),
  'something that is not TLS': () => sendEach(600, Buffer.from('GET / HTTP/1.1\r\n\r\n')),
  'handshakes that are torn': () => tear(repetitions(600, 3_000), 60),
  renegotiations: async () => assert.is(await renegotiate(50), 0),
  'TLS 1.3, for its KeyUpdate records': async () =>
    assert.is(await protocolOf(crowd.address, 'TLSv1.3'), undefined),
  'records of one byte': () => sendRecordsOfOneByte(16, repetitions(2_000, 40_000)),
  'connections that are idle': async () => void (await crowd.established(640)),
};

test('keeps nobody out and ends nothing, whatever it does to handshakes', async () => {
  for (const [name, attack] of Object.entries(attacks)) {
    await attack();
    await isWell(name);
    crowd.end();
  }
});

test('does not disturb the proxy at its end, in the midst of handshakes', async () => {
  await crowd.established(50);
  const torn = tear(120, 60);
  await sendEach(100, await clientHello());
  const { code } = await proxy.kill('SIGTERM');
  assert.is(code, 0);
  await torn;
});

test.run();
