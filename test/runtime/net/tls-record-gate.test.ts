import { randomBytes } from 'node:crypto';
import { type IncomingMessage, type RequestListener, request } from 'node:http';
import type https from 'node:https';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GatedHttpsAgent } from '../../../src/runtime/net/tls-record-gate.ts';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { cipherOfKeyUpdates, keyUpdates, trafficSecretIn } from '../../support/key-updates.ts';
import { type Loopback, listen } from '../../support/loopback.ts';

const test = suite<{ agent: https.Agent; stop: () => Promise<void> }>('a server’s TLS records without data');
const authority = createCertificateAuthority();
const certificate = authority.issue({ commonName: 'registry' });

test.before.each((context) => {
  context.agent = new GatedHttpsAgent({ keepAlive: true, ca: authority.cert, maxSockets: 1 });
});
test.after.each(async ({ agent, stop }) => {
  agent.destroy();
  await stop?.();
});

interface Flooded {
  /** Answers and, once the answer has begun, sends that many KeyUpdate records. */
  readonly count: number;
}

async function flooding({ count }: Flooded): Promise<Loopback> {
  const server = createServer({ ...certificate, ciphers: cipherOfKeyUpdates, minVersion: 'TLSv1.3' });
  const carriers = new Map<number | undefined, Socket>();
  const secrets = new Map<number | undefined, Buffer>();
  server.on('connection', (carrier: Socket) => carriers.set(carrier.remotePort, carrier));
  server.on('keylog', (line, { remotePort }) => {
    const secret = trafficSecretIn(line, 'SERVER');
    if (secret) secrets.set(remotePort, secret);
  });
  server.on('request', async ({ socket }: IncomingMessage) => {
    // the server's two session tickets go first
    await setTimeout(100);
    const secret = secrets.get(socket.remotePort) as Buffer;
    carriers.get(socket.remotePort)?.write(keyUpdates(secret, 2, count));
  });
  return listen(server);
}

const serving = (serve: RequestListener): Promise<Loopback> => listen(createServer(certificate, serve));

function ask({ port }: Loopback, agent: https.Agent): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, agent, protocol: 'https:', servername: 'localhost' };
    const outgoing = request(options, async (incoming) => {
      const pieces: Buffer[] = [];
      for await (const piece of incoming) pieces.push(piece);
      resolve(Buffer.concat(pieces));
    });
    outgoing.on('error', reject).end();
  });
}

test('end the connection when they are more than 64', async (context) => {
  const server = await flooding({ count: 200 });
  context.stop = server.stop;
  const failure = await ask(server, context.agent).then(() => 'an answer', String);
  assert.match(failure, 'more than 64 TLS records without data');
});

test('are let through when they are few: a server may change its keys', async (context) => {
  const server = await flooding({ count: 20 });
  context.stop = server.stop;
  const isOver = await Promise.race([
    ask(server, context.agent).then(() => true, String),
    setTimeout(500, 'waits'),
  ]);
  assert.is(isOver, 'waits');
});

test('do not matter to bodies of any size, one after the other on one connection', async (context) => {
  const body = randomBytes(3_000_000);
  const ports = new Set<number | undefined>();
  const server = await serving((incoming, response) => {
    ports.add(incoming.socket.remotePort);
    for (let at = 0; at < 1_000; at += 7) response.write(body.subarray(at, at + 7));
    response.end(body.subarray(1_001));
  });
  context.stop = server.stop;
  for (let turn = 0; turn < 3; turn += 1) assert.ok((await ask(server, context.agent)).equals(body));
  assert.is(ports.size, 1);
});

test('keep the code of a connection that cannot be made', async (context) => {
  const server = await serving(() => undefined);
  await server.stop();
  const failure = await ask(server, context.agent).then(
    () => assert.unreachable(),
    (error) => error,
  );
  assert.is(failure.code, 'ECONNREFUSED');
});

test.run();
