import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { S3Error } from '../../../src/objects/s3/error.ts';
import { SignatureVerifier } from '../../../src/objects/s3/sigv4-verify.ts';
import { readBody } from '../../../src/objects/upstream/upstream.ts';
import { freePort } from '../../support/ports.ts';
import { credentials, localStore, rejection, upstreamOf } from './support.ts';

const test = suite('requests to the store');

const get = { method: 'GET', bucket: 'b', key: 'k' } as const;

function assertUnavailable(error: unknown): void {
  assert.instance(error, S3Error);
  assert.is((error as S3Error).code, 'ServiceUnavailable');
  assert.is((error as S3Error).status, 503);
}

test('a request arrives as it was meant, signed with our credentials', async () => {
  const seen: string[] = [];
  const store = await localStore((request, response) => {
    const [rawPath = '', rawQuery = ''] = (request.url ?? '').split('?');
    const verifier = new SignatureVerifier(() => credentials.secretAccessKey);
    const { accessKeyId } = verifier.verify({
      method: request.method ?? '',
      rawPath,
      rawQuery,
      headers: request.headers,
    });
    seen.push(`${accessKeyId} ${request.url} ${request.headers['x-amz-meta-a']} ${request.headers.host}`);
    response.end('done');
  });
  const upstream = upstreamOf(`${store.url}/base`);
  const response = await upstream.send({
    ...get,
    key: 'ä +&%?=é//x',
    query: [
      ['versionId', 'a b'],
      ['acl', ''],
    ],
    headers: { 'x-amz-meta-a': 'caf\xc3\xa9  x', 'x-amz-meta-b': undefined },
  });
  assert.is((await readBody(response, 10)).toString(), 'done');
  const path = '/base/b/%C3%A4%20%2B%26%25%3F%3D%C3%A9//x?versionId=a%20b&acl=';
  assert.equal(seen, [`AKIATEST ${path} caf\xc3\xa9  x ${store.url.slice(7)}`]);
  upstream.close();
  await store.stop();
});

test('a header that cannot be sent is refused to whoever asked, and takes no connection', async () => {
  const store = await localStore((_, response) => response.end('done'));
  const upstream = upstreamOf(store.url, { limits: { sockets: 1, connectMs: 200 } });
  const unfit = () => rejection(upstream.send({ ...get, headers: { 'x-amz-meta-a': 'a\nb' } }));
  assert.match((await unfit()).message, /x-amz-meta-a/);
  await readBody(await upstream.send(get), 10);
  assert.match((await unfit()).message, /x-amz-meta-a/);
  await readBody(await upstream.send(get), 10);
  upstream.close();
  await store.stop();
});

test('a connection refused is a 503 with the cause', async () => {
  const upstream = upstreamOf(`http://127.0.0.1:${await freePort()}`);
  const error = await rejection(upstream.send(get));
  assertUnavailable(error);
  assert.is((error.cause as { code: string }).code, 'ECONNREFUSED');
  assert.match(error.message, /ECONNREFUSED/);
  upstream.close();
});

test('a store that accepts and stays silent is given up', async () => {
  const store = await localStore(() => undefined);
  const upstream = upstreamOf(store.url, { limits: { idleMs: 50 } });
  assertUnavailable(await rejection(upstream.send(get)));
  upstream.close();
  await store.stop();
});

test('a body that stops arriving ends with an error', async () => {
  const store = await localStore((_, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('half');
  });
  const upstream = upstreamOf(store.url, { limits: { idleMs: 50 } });
  assertUnavailable(await rejection(readBody(await upstream.send(get), 10)));
  upstream.close();
  await store.stop();
});

test('a caller that takes its time does not count as a silent store', async () => {
  const store = await localStore((_, response) => {
    response.end(Buffer.alloc(4 * 1024 * 1024, 1));
  });
  const upstream = upstreamOf(store.url, { limits: { idleMs: 100 } });
  const response = await upstream.send(get);
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.is((await readBody(response, 5 * 1024 * 1024)).length, 4 * 1024 * 1024);
  upstream.close();
  await store.stop();
});

test('waiting for a free connection is bounded too', async () => {
  const store = await localStore(() => undefined);
  const upstream = upstreamOf(store.url, { limits: { sockets: 1, connectMs: 50 } });
  const stop = new AbortController();
  const first = upstream.send({ ...get, signal: stop.signal });
  assertUnavailable(await rejection(Promise.race([upstream.send(get), first])));
  stop.abort(new Error('enough'));
  assert.is((await rejection(first)).message, 'enough');
  await new Promise((resolve) => setTimeout(resolve, 20));
  upstream.close();
  await store.stop();
});

test('a redirect is refused, so that no caller follows it past the proxy', async () => {
  for (const status of [301, 302, 307, 308]) {
    const store = await localStore((_, response) => {
      response.writeHead(status, { location: 'http://elsewhere/', 'x-amz-bucket-region': 'eu-west-1' }).end();
    });
    const upstream = upstreamOf(store.url);
    const error = await rejection(upstream.send(get));
    assert.is(error.code, 'InternalError');
    assert.match(error.message, /eu-west-1/);
    upstream.close();
    await store.stop();
  }
});

test('a success that S3 does not have is refused, so that nothing the store sends with it is taken for an object', async () => {
  for (const status of [201, 203, 204, 205, 207, 226, 299]) {
    const store = await localStore((_, response) => {
      response.writeHead(status).end('<Error/>');
    });
    const upstream = upstreamOf(store.url);
    const error = await rejection(upstream.send(get));
    assert.is(error.code, 'InternalError');
    assert.match(error.message, String(status));
    upstream.close();
    await store.stop();
  }
});

test('304 is an answer', async () => {
  const store = await localStore((_, response) => {
    response.writeHead(304).end();
  });
  const upstream = upstreamOf(store.url);
  assert.is((await upstream.send(get)).status, 304);
  upstream.close();
  await store.stop();
});

test('an aborted signal ends the request with its reason', async () => {
  const store = await localStore(() => undefined);
  const upstream = upstreamOf(store.url);
  const stop = new AbortController();
  const pending = upstream.send({ ...get, signal: stop.signal });
  await once(store.server, 'request');
  const gone = new Error('the caller has gone');
  stop.abort(gone);
  assert.is(await rejection(pending), gone);
  upstream.close();
  await store.stop();
});

test('a signal that was aborted before sends nothing', async () => {
  let requests = 0;
  const store = await localStore((_, response) => {
    requests += 1;
    response.end();
  });
  const upstream = upstreamOf(store.url);
  const gone = new Error('the caller had gone');
  assert.is(await rejection(upstream.send({ ...get, signal: AbortSignal.abort(gone) })), gone);
  assert.is(requests, 0);
  upstream.close();
  await store.stop();
});

/** Answers the first request of each connection and resets it on the second. */
async function forgetfulStore() {
  let requests = 0;
  const server = createTcpServer((socket) => {
    let served = false;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      requests += 1;
      if (served) return socket.resetAndDestroy();
      served = true;
      return socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, requests: () => requests, stop: () => server.close() };
}

test('a GET on a kept connection that was closed is sent again, once', async () => {
  const store = await forgetfulStore();
  const upstream = upstreamOf(store.url);
  await readBody(await upstream.send(get), 10);
  assert.is((await readBody(await upstream.send(get), 10)).toString(), 'ok');
  assert.is(store.requests(), 3);
  upstream.close();
  store.stop();
});

test('a write is not sent again', async () => {
  const store = await forgetfulStore();
  const upstream = upstreamOf(store.url);
  await readBody(await upstream.send(get), 10);
  const put = { ...get, method: 'PUT' };
  assertUnavailable(await rejection(upstream.send(put, Buffer.from('x'))));
  assert.is(store.requests(), 2);
  upstream.close();
  store.stop();
});

test('a first request that is reset is not sent again', async () => {
  let requests = 0;
  const store = await localStore((request) => {
    requests += 1;
    request.socket.resetAndDestroy();
  });
  const upstream = upstreamOf(store.url);
  assertUnavailable(await rejection(upstream.send(get)));
  assert.is(requests, 1);
  upstream.close();
  await store.stop();
});

test('a body beyond the limit is not read on', async () => {
  const store = await localStore((_, response) => {
    response.end('0123456789');
  });
  const upstream = upstreamOf(store.url);
  assert.is((await rejection(readBody(await upstream.send(get), 9))).code, 'InternalError');
  upstream.close();
  await store.stop();
});

test('without credentials every request is a 503', async () => {
  const { createUpstream } = await import('../../../src/objects/upstream/s3-upstream.ts');
  const { quiet } = await import('./support.ts');
  const { s3Error } = await import('../../../src/objects/s3/error.ts');
  const upstream = createUpstream(
    {
      upstream: new URL('http://127.0.0.1:1'),
      region: 'r',
      upstreamSigning: 'auto',
      upstreamChecksum: 'crc32',
    },
    quiet,
    { credentials: () => Promise.reject(s3Error('ServiceUnavailable', 'none')) },
  );
  assertUnavailable(await rejection(upstream.send(get)));
  upstream.close();
});

test.run();
