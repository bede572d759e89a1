import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { VaultError } from '../../../../src/keyserver/contract.ts';
import type { OperationHandler } from '../../../../src/objects/context.ts';
import { EnvelopeError } from '../../../../src/objects/format/cipher.ts';
import { s3Error } from '../../../../src/objects/s3/error.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { elementOf, RawClient, serve } from '../support/serve.ts';

const test = suite('faults of handlers become answers');

const failing =
  (error: unknown): OperationHandler =>
  () =>
    Promise.reject(error);

async function answerTo(error: unknown, method = 'GET') {
  const server = await serve({ GetObject: failing(error), HeadObject: failing(error) });
  const response = await fetch(`${server.url}/bucket/key`, { method });
  const text = await response.text();
  await server.stop();
  return { response, text, lines: server.lines, counted: server.counted };
}

test('an S3Error is answered as it is, with the id of the request', async () => {
  const { response, text, counted } = await answerTo(
    s3Error('NoSuchKey', undefined, { details: { Key: 'a<b' } }),
  );
  assert.is(response.status, 404);
  assert.is(response.headers.get('content-type'), 'application/xml');
  assert.is(elementOf(text, 'Code'), 'NoSuchKey');
  assert.is(elementOf(text, 'Key'), 'a&lt;b');
  assert.is(elementOf(text, 'Resource'), '/bucket/key');
  assert.is(elementOf(text, 'RequestId'), response.headers.get('x-amz-request-id'));
  assert.equal(counted.requests, ['GetObject 404']);
});

test('a HEAD has the status and no body, nor the length of one', async () => {
  const { response, text } = await answerTo(s3Error('NoSuchKey'), 'HEAD');
  assert.is(response.status, 404);
  assert.is(response.headers.get('content-length'), null);
  assert.is(text, '');
});

test('a 304 has no body', async () => {
  const { S3Error } = await import('../../../../src/objects/s3/error.ts');
  const { response, text } = await answerTo(new S3Error('NotModified', 304, 'not modified'));
  assert.is(response.status, 304);
  assert.is(text, '');
});

test('what is wrong with a stored object is counted and logged, and not told', async () => {
  const { response, text, lines, counted } = await answerTo(
    new EnvelopeError('authentication-failed', 'the tag of the body differs'),
  );
  assert.is(response.status, 500);
  assert.is(elementOf(text, 'Code'), 'InternalError');
  assert.not.match(text, /tag/);
  assert.equal(counted.refused, ['authentication-failed']);
  assert.ok(
    lines.some(
      ({ event, fields }) => event === 'proxy.object.refused' && fields.reason === 'authentication-failed',
    ),
  );
});

test('the body of a refused request is read on while its answer waits for that of the one before', async () => {
  const { promise: mayAnswer, resolve: go } = Promise.withResolvers<void>();
  const server = await serve({
    GetObject: async (_, { answer }) => {
      await mayAnswer;
      await answer.end('first');
    },
    PutObject: failing(s3Error('SlowDown')),
  });
  const client = new RawClient(server.port);
  const body = Buffer.alloc(12 * 1024 * 1024);
  client.send('GET /bucket/key HTTP/1.1\r\nHost: h\r\n\r\n');
  client.send(`PUT /bucket/key HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n`);
  client.send(body);
  try {
    await waitFor('the body to be taken', () => client.socket.writableLength === 0);
    assert.is(client.received, '');
    go();
    assert.match(await client.until('SlowDown'), /first/);
  } finally {
    client.socket.destroy();
    await server.stop();
  }
});

test('an object that may not be read unencrypted is denied', async () => {
  const { response, text, counted } = await answerTo(new EnvelopeError('unencrypted', 'no svc metadata'));
  assert.is(response.status, 403);
  assert.is(elementOf(text, 'Code'), 'AccessDenied');
  assert.equal(counted.refused, ['unencrypted']);
});

test('a key server that is away is worth a retry', async () => {
  const { response, text, lines } = await answerTo(new VaultError('unavailable', 'sealed'));
  assert.is(response.status, 503);
  assert.is(elementOf(text, 'Code'), 'ServiceUnavailable');
  assert.ok(Number(response.headers.get('retry-after')) > 0);
  assert.ok(lines.some(({ event }) => event === 'proxy.vault.unavailable'));
});

test('a missing policy is named in the log and not to the caller', async () => {
  const { response, text, lines } = await answerTo(
    new VaultError('denied', 'permission denied', { path: 'transit/decrypt/svc', status: 403 }),
  );
  assert.is(response.status, 500);
  assert.not.match(text, /transit/);
  assert.ok(
    lines.some(
      ({ level, event, fields }) =>
        level === 'error' && event === 'proxy.vault.denied' && fields.path === 'transit/decrypt/svc',
    ),
  );
});

for (const kind of ['rejected', 'expired-version', 'not-found'] as const) {
  test(`a key that is ${kind} is an internal error with a log line`, async () => {
    const { response, text, lines } = await answerTo(new VaultError(kind, 'refused'));
    assert.is(response.status, 500);
    assert.is(elementOf(text, 'Code'), 'InternalError');
    const line = lines.find(({ event }) => event === `proxy.vault.${kind}`);
    assert.ok(line);
    const named = kind === 'not-found' ? [undefined, undefined] : ['bucket', 'key'];
    assert.equal([line.fields.bucket, line.fields.key], named);
  });
}

test('breakage of our own is logged with its place and not told', async () => {
  const { response, text, lines } = await answerTo(new TypeError('undefined is not a function'));
  assert.is(response.status, 500);
  assert.not.match(text, /function/);
  const line = lines.find(({ event }) => event === 'proxy.request.broke');
  assert.ok(Array.isArray(line?.fields.stack));
});

test('headers of an answer that did not come about are taken back', async () => {
  const server = await serve({
    GetObject: async (_context, { answer }) => {
      answer.head(200, { etag: '"x"', 'content-length': '10', 'x-amz-meta-a': 'b' });
      throw s3Error('InternalError');
    },
  });
  const response = await fetch(`${server.url}/bucket/key`);
  assert.is(response.status, 500);
  assert.is(response.headers.get('etag'), null);
  assert.is(response.headers.get('x-amz-meta-a'), null);
  assert.is(elementOf(await response.text(), 'Code'), 'InternalError');
  await server.stop();
});

test('after the head has gone out the connection breaks, so that no body looks whole', async () => {
  const server = await serve({
    GetObject: async (_context, { answer }) => {
      answer.head(200, {});
      await answer.write(Buffer.from('unfinished'));
      throw new EnvelopeError('authentication-failed', 'bad tag');
    },
  });
  const client = new RawClient(server.port);
  client.send('GET /bucket/key HTTP/1.1\r\nHost: h\r\n\r\n');
  const received = await client.rest();
  assert.match(received, /^HTTP\/1\.1 200/);
  assert.not.match(received, /\r\n0\r\n\r\n$/, 'a chunked body that ends properly');
  assert.equal(server.counted.refused, ['authentication-failed']);
  await server.stop();
});

test('a body with a length is not completed either', async () => {
  const server = await serve({
    GetObject: async (_context, { answer }) => {
      answer.head(200, { 'content-length': '20' });
      await answer.write(Buffer.from('unfinished'));
      throw s3Error('InternalError');
    },
  });
  const failure = await fetch(`${server.url}/bucket/key`)
    .then((response) => response.text())
    .then(
      () => undefined,
      (error: Error) => error,
    );
  assert.instance(failure, Error);
  await server.stop();
});

test.run();
