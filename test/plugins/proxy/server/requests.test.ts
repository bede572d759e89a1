import { setTimeout as delay } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { OperationHandler } from '../../../../src/objects/context.ts';
import { s3Error } from '../../../../src/objects/s3/error.ts';
import { elementOf, RawClient, serve } from '../support/serve.ts';

const test = suite('requests over HTTP');

const answerText =
  (text: string): OperationHandler =>
  async (_context, { payload, answer }) => {
    await payload.read(1024);
    answer.head(200, {});
    await answer.end(text);
  };

test('the body of a caller that expects 100-continue is asked for when a handler reads it', async () => {
  const server = await serve({ PutObject: answerText('stored') });
  const client = new RawClient(server.port);
  client.send('PUT /bkt/k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n');
  assert.is(await client.until('\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n');
  client.send('hello');
  assert.match(await client.until('stored'), /HTTP\/1\.1 200 OK/);
  client.destroy();
  await server.stop();
});

test('a refused caller that expects 100-continue is not asked for its body', async () => {
  const server = await serve({ PutObject: () => Promise.reject(s3Error('PreconditionFailed')) });
  const client = new RawClient(server.port);
  client.send('PUT /bkt/k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n');
  const received = await client.rest();
  assert.match(received, /^HTTP\/1\.1 412 /);
  assert.match(received, /connection: close/i);
  assert.not.match(received, /100 Continue/);
  await server.stop();
});

test('a caller that looks at the answer only after it has sent everything sees why it was refused', async () => {
  const server = await serve({ PutObject: () => Promise.reject(s3Error('AccessDenied')) });
  const client = new RawClient(server.port);
  const body = Buffer.alloc(12 * 1024 * 1024);
  client.socket.pause();
  client.send(`PUT /bkt/k HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n`);
  const failure = await new Promise((resolve) => client.socket.write(body, resolve));
  assert.not.ok(failure, String(failure));
  client.socket.resume();
  const received = await client.rest();
  assert.match(received, /^HTTP\/1\.1 403 /);
  assert.match(received, /<Code>AccessDenied<\/Code>/);
  await server.stop();
});

test('a caller that was gone before its body was asked for is not waited for', async () => {
  const outcome = Promise.withResolvers<Error>();
  const server = await serve({
    PutObject: async (_context, { payload, signal }) => {
      const gone = new Promise((resolve) => signal.addEventListener('abort', resolve));
      client.destroy();
      await gone;
      await payload.read(1024).catch(outcome.resolve);
    },
  });
  const client = new RawClient(server.port);
  client.send('PUT /bkt/k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe');
  assert.is((await outcome.promise).name, 'ClientDisconnected');
  await server.stop();
});

test('a body that is not read does not become the next request', async () => {
  const server = await serve({ PutObject: () => Promise.reject(s3Error('AccessDenied')) });
  const client = new RawClient(server.port);
  const smuggled = 'GET /bkt/secret HTTP/1.1\r\nHost: h\r\n\r\n';
  client.send(`PUT /bkt/k HTTP/1.1\r\nHost: h\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`);
  await client.rest();
  assert.equal(server.counted.requests, ['PutObject 403']);
  await server.stop();
});

test('a caller without a byte for too long is answered RequestTimeout', async () => {
  const server = await serve({ PutObject: answerText('stored') }, { stallMs: 50 });
  const client = new RawClient(server.port);
  client.send('PUT /bkt/k HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe');
  const received = await client.until('</Error>');
  assert.match(received, /^HTTP\/1\.1 400 /);
  assert.is(elementOf(received, 'Code'), 'RequestTimeout');
  client.destroy();
  await server.stop();
});

test('a handler that is slow to read is not taken for a caller that is slow to send', async () => {
  const server = await serve(
    {
      PutObject: async (_context, { payload, answer }) => {
        let size = 0;
        for await (const chunk of payload.chunks()) {
          size += chunk.length;
          await delay(120);
        }
        await answer.end(String(size));
      },
    },
    { stallMs: 50 },
  );
  const response = await fetch(`${server.url}/bkt/k`, { method: 'PUT', body: 'hello' });
  assert.is(await response.text(), '5');
  await server.stop();
});

test('a caller that goes away aborts its request', async () => {
  const aborted = Promise.withResolvers<unknown>();
  const server = await serve({
    GetObject: async (_context, { signal }) => {
      client.destroy();
      signal.addEventListener('abort', () => aborted.resolve(signal.reason));
      await aborted.promise;
      throw signal.reason;
    },
  });
  const client = new RawClient(server.port);
  client.send('GET /bkt/k HTTP/1.1\r\nHost: h\r\n\r\n');
  assert.is(((await aborted.promise) as Error).name, 'ClientDisconnected');
  await server.stop();
  assert.equal(server.counted.requests, ['GetObject 499']);
  assert.is(server.counted.inFlight, 0);
});

/** `outcome` is what the handler got of the body: its bytes, or the error that ended it. */
async function serveOneBody() {
  const { promise: outcome, resolve } = Promise.withResolvers<unknown>();
  const server = await serve({
    PutObject: async (_context, { payload }) => {
      await payload.read(1024).then(resolve, resolve);
      throw s3Error('InternalError');
    },
  });
  return { server, outcome };
}

test('a body that is cut is never taken for a whole one', async () => {
  const { server, outcome } = await serveOneBody();
  const client = new RawClient(server.port);
  client.send('PUT /bkt/k HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
  client.socket.end();
  assert.instance(await outcome, Error);
  await client.rest();
  await server.stop();
});

test('broken chunked framing of HTTP is refused, and the handler hears of it', async () => {
  const { server, outcome } = await serveOneBody();
  const client = new RawClient(server.port);
  client.send('PUT /bkt/k HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n');
  assert.match(await client.rest(), /^HTTP\/1\.1 400 .*<Code>InvalidRequest<\/Code>/s);
  assert.instance(await outcome, Error);
  await server.stop();
});

test('what is not HTTP is answered with an S3 error', async () => {
  const server = await serve({});
  const client = new RawClient(server.port);
  client.send('nonsense\r\n\r\n');
  const received = await client.rest();
  assert.match(received, /^HTTP\/1\.1 400 .*<Code>InvalidRequest<\/Code>/s);
  const [head = '', body = ''] = received.split('\r\n\r\n');
  assert.match(head, new RegExp(`content-length: ${body.length}$`, 'im'));
  await server.stop();
});

test('a head that is too long is answered', async () => {
  const server = await serve({});
  const client = new RawClient(server.port);
  client.send(`GET /bkt/k HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(17 * 1024)}\r\n\r\n`);
  assert.match(await client.until('</Error>'), /^HTTP\/1\.1 400 [\s\S]*<Code>RequestHeaderSectionTooLarge</);
  client.destroy();
  await server.stop();
});

test('pipelined requests are answered in order', async () => {
  const server = await serve({
    GetObject: async (_context, { request, answer }) => {
      if (request.key === 'slow') await delay(50);
      await answer.end(`<${request.key}>`);
    },
  });
  const client = new RawClient(server.port);
  client.send('GET /bkt/slow HTTP/1.1\r\nHost: h\r\n\r\nGET /bkt/fast HTTP/1.1\r\nHost: h\r\n\r\n');
  const received = await client.until('<fast>');
  assert.ok(received.indexOf('<slow>') < received.indexOf('<fast>'));
  client.destroy();
  await server.stop();
});

test('a refused head behind another request is no answer to that one', async () => {
  const go = Promise.withResolvers<void>();
  const server = await serve({ PutObject: async () => go.promise });
  const client = new RawClient(server.port);
  const headers = Array.from({ length: 200 }, (_, index) => `x${index}: y\r\n`).join('');
  const put = 'PUT /bkt/k HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n';
  client.send(`${put}GET /bkt/k HTTP/1.1\r\nHost: h\r\n${headers}\r\n`);
  assert.is(await client.rest(), '');
  go.resolve();
  await server.stop();
});

test('requests in flight are finished while draining, and their connections closed', async () => {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const server = await serve({
    GetObject: async (_context, { answer }) => {
      begun.resolve();
      await go.promise;
      await answer.end('whole');
    },
  });
  const client = new RawClient(server.port);
  client.send('GET /bkt/k HTTP/1.1\r\nHost: h\r\n\r\n');
  await begun.promise;
  const stopped = server.stop();
  go.resolve();
  const received = await client.rest();
  assert.match(received, /connection: close/i);
  assert.match(received, /whole$/);
  await stopped;
});

test('a connection that never asked for anything does not hold the end up', async () => {
  const server = await serve({});
  const silent = new RawClient(server.port);
  const halfway = new RawClient(server.port);
  halfway.send('GET /bkt/k HTTP/1.1\r\nHost:');
  const asking = new RawClient(server.port);
  asking.send('GET /bkt/k HTTP/1.1\r\nHost: h\r\n\r\n');
  await asking.until('</Error>');
  await server.stop();
  for (const client of [silent, halfway, asking]) await client.rest();
});

test('an answer whose head left before the end began is finished, and its connection not kept', async () => {
  const go = Promise.withResolvers<void>();
  const server = await serve({
    GetObject: async (_context, { answer }) => {
      answer.head(200, { 'content-length': '10' });
      await answer.write(Buffer.from('first'));
      await go.promise;
      await answer.end('after');
    },
  });
  const client = new RawClient(server.port);
  client.send('GET /bkt/k HTTP/1.1\r\nHost: h\r\n\r\n');
  assert.not.match(await client.until('first'), /connection: close/i);
  const stopped = server.stop();
  go.resolve();
  assert.match(await client.rest(), /firstafter$/);
  await stopped;
});

test('an empty body needs no length except where an object is stored', async () => {
  const server = await serve({ PutObject: answerText(''), CopyObject: answerText('copied') });
  const client = new RawClient(server.port);
  client.send('PUT /bkt/k HTTP/1.1\r\nHost: h\r\n\r\n');
  assert.match(await client.until('</Error>'), /^HTTP\/1\.1 411 .*MissingContentLength/s);
  client.destroy();
  const copying = new RawClient(server.port);
  copying.send('PUT /bkt/k HTTP/1.1\r\nHost: h\r\nx-amz-copy-source: /bkt/s\r\n\r\n');
  assert.match(await copying.until('copied'), /^HTTP\/1\.1 200 /);
  copying.destroy();
  await server.stop();
});

test('more than an object can hold is refused before the handler sees it', async () => {
  let called = false;
  const server = await serve({
    PutObject: async () => {
      called = true;
    },
  });
  const client = new RawClient(server.port);
  client.send('PUT /bkt/k HTTP/1.1\r\nHost: h\r\nContent-Length: 5368709093\r\nExpect: 100-continue\r\n\r\n');
  assert.is(elementOf(await client.rest(), 'Code'), 'EntityTooLarge');
  assert.not.ok(called);
  await server.stop();
});

test.run();
