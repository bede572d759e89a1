import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readRawBody } from '../../../../src/plugins/proxy/server/client-streams.ts';
import { joinSmallPieces } from '../../../../src/runtime/net/join-small-pieces.ts';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { listen } from '../../../support/loopback.ts';
import { waitFor } from '../../../support/wait-for.ts';

const test = suite('small pieces of a body');
const options = { stallMs: 10_000 };

/** A body in chunks of these sizes, in turn. */
function chunked(body: Buffer, sizes: readonly number[]): Buffer {
  const pieces: Uint8Array[] = [
    Buffer.from('PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'),
  ];
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const piece = body.subarray(at, at + (sizes[turn % sizes.length] as number));
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
    at += piece.length;
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

/** What reaches a server that reads it with `read`. */
async function sendTo<T>(bytes: Buffer, read: (request: IncomingMessage) => Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const server = await listen(
    createServer({ highWaterMark: 64 * 1024 }, (request, response) => {
      joinSmallPieces(request);
      read(request).then(resolve, reject);
      request.on('end', () => response.end());
    }),
  );
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => undefined);
  socket.write(bytes);
  try {
    return await promise;
  } finally {
    socket.destroy();
    await server.stop();
  }
}

async function collect(request: IncomingMessage, pauseMs = 0): Promise<{ body: Buffer; pieces: number }> {
  const read: Buffer[] = [];
  for await (const chunk of readRawBody(request, options)) {
    read.push(Buffer.from(chunk));
    if (pauseMs > 0) await sleep(pauseMs);
  }
  return { body: Buffer.concat(read), pieces: read.length };
}

test('a body in chunks of a byte is few pieces, read at once or later', async () => {
  const body = randomBytes(40_000);
  for (const waitMs of [0, 200]) {
    const read = async (request: IncomingMessage) => {
      if (waitMs > 0) await sleep(waitMs);
      return collect(request);
    };
    const { body: whole, pieces } = await sendTo(chunked(body, [1]), read);
    assert.ok(whole.equals(body));
    assert.ok(pieces < 40, `${pieces} pieces`);
  }
});

test('chunks of all sizes keep their order, for readers fast and slow', async () => {
  const body = randomBytes(700_000);
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  for (const pauseMs of [0, 1])
    for (const sizes of [[1023], [1, 1023, 600, 1024], [5_000, 3, 900, 70_000]]) {
      const { body: read } = await sendTo(chunked(body, sizes), (request) => collect(request, pauseMs));
      assert.is(digest(read), digest(body), `${sizes}, ${pauseMs}`);
    }
});

test('what has come is not kept back while the rest is on its way', async () => {
  const begin = Buffer.from('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc');
  for (const waitMs of [0, 200]) {
    const first = await sendTo(begin, async (request) => {
      if (waitMs > 0) await sleep(waitMs);
      const { value } = await readRawBody(request, { stallMs: 2_000 }).next();
      return value?.toString();
    });
    assert.is(first, 'abc');
  }
});

test('a body that nobody reads stops the connection', async () => {
  const held = await sendTo(chunked(Buffer.alloc(400_000), [1_000]), async (request) => {
    await waitFor('the connection to be paused', () => request.socket.isPaused());
    return request.readableLength;
  });
  assert.ok(held < 150_000, `${held}`);
});

test('over TLS, a body in chunks of a byte arrives whole, and lets others go meanwhile', async () => {
  const authority = createCertificateAuthority();
  const body = randomBytes(200_000);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const server = createTlsServer({ ...authority.issue({ commonName: 'proxy' }) }, (request) => {
    joinSmallPieces(request);
    collect(request).then((read) => resolve(read.body), reject);
  });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.on('error', () => undefined).write(chunked(body, [1]));
  assert.ok((await promise).equals(body));
  assert.ok(turns > 20, `${turns} turns for others`);
  clearInterval(timer);
  socket.destroy();
  server.closeAllConnections();
  server.close();
});

test.run();
