import { once } from 'node:events';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AnsweredEarly, readBody, type UpstreamUpload } from '../../../src/objects/upstream/upstream.ts';
import { localStore, rejection, upstreamOf } from './support.ts';

const test = suite('uploads to the store');

const put = { method: 'PUT', bucket: 'b', key: 'k' } as const;
const MiB = 1024 * 1024;

async function writeUntilError(upload: UpstreamUpload, length: number): Promise<unknown> {
  const chunk = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < length; sent += chunk.length) {
    try {
      await upload.write(chunk);
    } catch (error) {
      return error;
    }
  }
  return undefined;
}

/** A store that speaks for itself: `onData` gets everything that a connection sends. */
async function rawStore(onData: (socket: Socket, text: string) => void) {
  const sockets: Socket[] = [];
  const ends: string[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('data', (data) => onData(socket, data.toString('latin1')));
    socket.on('end', () => ends.push('fin'));
    socket.on('error', (error: NodeJS.ErrnoException) => ends.push(error.code ?? ''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const stop = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, sockets, ends, stop };
}

test('a refusal in the middle of the body is the answer', async () => {
  const store = await localStore((request, response) => {
    request.once('data', () => response.writeHead(507, { connection: 'close' }).end('<Error>full</Error>'));
  });
  const upstream = upstreamOf(store.url);
  const upload = await upstream.upload(put, 512 * MiB);
  assert.instance(await writeUntilError(upload, 512 * MiB), AnsweredEarly);
  const response = await upload.answer();
  assert.is(response.status, 507);
  assert.is((await readBody(response, 100)).toString(), '<Error>full</Error>');
  upstream.close();
  await store.stop();
});

test('a success before the end of the body is none', async () => {
  const store = await localStore((request, response) => {
    request.once('data', () => response.end());
  });
  const upstream = upstreamOf(store.url);
  const upload = await upstream.upload(put, 512 * MiB);
  assert.instance(await writeUntilError(upload, 512 * MiB), AnsweredEarly);
  assert.is((await rejection(upload.answer())).code, 'InternalError');
  upstream.close();
  await store.stop();
});

test('a large body is asked for, and a refusal keeps it here', async () => {
  let bytes = 0;
  const store = await localStore(() => undefined);
  store.server.on('checkContinue', (request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    response.writeHead(403).end('no');
  });
  const upstream = upstreamOf(store.url);
  const upload = await upstream.upload(put, 8 * MiB);
  assert.instance(await writeUntilError(upload, 8 * MiB), AnsweredEarly);
  assert.is((await upload.answer()).status, 403);
  assert.is(bytes, 0);
  upstream.close();
  await store.stop();
});

test('a store that does not answer the question gets the body all the same', async () => {
  const store = await rawStore((socket, text) => {
    if (text.endsWith('\r\n\r\n') && text.includes('x-amz-checksum-crc32:')) {
      socket.write('HTTP/1.1 200 OK\r\netag: "e"\r\ncontent-length: 0\r\n\r\n');
    }
  });
  const upstream = upstreamOf(store.url, { limits: { continueMs: 20 } });
  const upload = await upstream.upload(put, MiB);
  const response = await upload.finish(Buffer.alloc(MiB));
  assert.is(response.status, 200);
  upstream.close();
  store.stop();
});

test('a large body does not fail on a kept connection that was closed', async () => {
  let connections = 0;
  const store = await rawStore((socket, text) => {
    if (text.startsWith('GET')) {
      connections += 1;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    } else if (text.startsWith('PUT') && socket === store.sockets[0]) socket.resetAndDestroy();
    else if (text.startsWith('PUT')) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    else if (text.endsWith('\r\n\r\n')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  const upstream = upstreamOf(store.url);
  await readBody(await upstream.send({ ...put, method: 'GET' }), 0);
  const upload = await upstream.upload(put, MiB);
  assert.is((await upload.finish(Buffer.alloc(MiB))).status, 200);
  assert.is(connections, 1);
  assert.is(store.sockets.length, 2);
  upstream.close();
  store.stop();
});

test('giving up resets the connection: the store sees no orderly end', async () => {
  const store = await rawStore(() => undefined);
  const upstream = upstreamOf(store.url, { limits: { continueMs: 10 } });
  const upload = await upstream.upload(put, 2 * MiB);
  await upload.write(Buffer.alloc(MiB));
  const [socket] = store.sockets;
  if (!socket) throw new Error('no connection');
  upload.abort();
  upload.abort();
  await new Promise((resolve) => socket.once('close', resolve));
  assert.equal(store.ends, ['ECONNRESET']);
  upstream.close();
  store.stop();
});

test('a store that stops taking is given up', async () => {
  const store = await rawStore((socket) => void socket.pause());
  const upstream = upstreamOf(store.url, { limits: { idleMs: 100, continueMs: 10 } });
  const upload = await upstream.upload(put, 512 * MiB);
  const error = (await writeUntilError(upload, 512 * MiB)) as { status?: number };
  assert.is(error.status, 503);
  upstream.close();
  store.stop();
});

test('a source that pauses for longer than that is waited for', async () => {
  const store = await localStore((request, response) => {
    request.resume().on('end', () => response.end());
  });
  const upstream = upstreamOf(store.url, { limits: { idleMs: 50 } });
  const upload = await upstream.upload(put, MiB);
  await upload.write(Buffer.alloc(MiB - 1));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.is((await upload.finish(Buffer.alloc(1))).status, 200);
  upstream.close();
  await store.stop();
});

test('an aborted signal resets an upload', async () => {
  const store = await rawStore(() => undefined);
  const upstream = upstreamOf(store.url, { limits: { continueMs: 10 } });
  const stop = new AbortController();
  const upload = await upstream.upload({ ...put, signal: stop.signal }, 2 * MiB);
  const gone = new Error('the caller has gone');
  stop.abort(gone);
  assert.is(await rejection(upload.finish(Buffer.alloc(2 * MiB))), gone);
  upstream.close();
  store.stop();
});

test.run();
