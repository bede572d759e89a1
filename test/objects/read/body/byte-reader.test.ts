import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ResponseBody } from '../../../../src/objects/net/http1-response-body.ts';
import { S3Error } from '../../../../src/objects/s3/error.ts';
import { createCollector } from '../../../../src/runtime/memory.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { incoming } from '../support/incoming.ts';

const test = suite('body of a response');

const collect = createCollector(0);
const flow = { pause: () => undefined, resume: () => undefined, reset: () => undefined };

/** Bytes that are in use, of the heap and outside of it. */
function allocated(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test('gives all bytes in order, in pieces of at most what is asked for', async () => {
  const body = randomBytes(500_000);
  const { message, stop } = await incoming((response) => response.end(body));
  const reader = message;
  const pieces: Buffer[] = [];
  for (let max = 1; ; max = (max * 3) % 100_003) {
    const piece = await reader.next(max);
    if (piece === undefined) break;
    assert.ok(piece.length > 0 && piece.length <= max);
    pieces.push(Buffer.from(piece));
  }
  assert.ok(Buffer.concat(pieces).equals(body));
  stop();
});

test('exact stretches cross the borders of chunks; the end leaves none', async () => {
  const { message, stop } = await incoming(async (response) => {
    for (const chunk of ['ab', 'cd', 'ef']) {
      response.write(chunk);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end();
  });
  const reader = message;
  assert.is(String(await reader.exact(5)), 'abcde');
  assert.is(await reader.exact(2), undefined);
  stop();
});

test('a body that comes byte by byte takes little more memory than its bytes', async () => {
  const size = 60_000;
  const body = randomBytes(size);
  const bodies = Array.from({ length: 20 }, () => new ResponseBody(flow, () => new Error('broken')));
  const before = allocated();
  for (const each of bodies) for (let at = 0; at < size; at++) each.push(body.subarray(at, at + 1));
  const grown = allocated() - before;
  assert.ok(grown < 20 * bodies.length * size, `${grown} bytes for ${bodies.length * size}`);
  for (const each of bodies) assert.ok((await each.exact(size))?.equals(body));
});

test('holds the store back while nobody reads', async () => {
  let sent = 0;
  const total = 64 * 1024 * 1024;
  const { message, stop } = await incoming((response) => {
    const chunk = Buffer.alloc(64 * 1024);
    const fill = () => {
      while (sent < total && response.write(chunk)) sent += chunk.length;
    };
    response.on('drain', fill);
    fill();
  });
  const reader = message;
  await reader.next(1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(sent < total / 2, `${sent} bytes were taken`);
  reader.close();
  stop();
});

test('a cut connection is no end', async () => {
  const { message, stop } = await incoming((response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('abc');
    setTimeout(() => response.destroy(), 10);
  });
  const reader = message;
  assert.is(String(await reader.next(10)), 'abc');
  await reader.next(10).then(
    () => assert.unreachable(),
    (error: unknown) => {
      assert.ok(error instanceof S3Error && error.status === 503);
    },
  );
  stop();
});

test('what has come whole is read although the connection ends meanwhile', async () => {
  const { message, stop } = await incoming((response) => {
    response.writeHead(200, { 'content-length': '3', connection: 'close' });
    response.end('abc');
  });
  const reader = message;
  assert.is(String(await reader.next(2)), 'ab');
  stop();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.is(String(await reader.exact(1)), 'c');
  assert.is(await reader.next(1), undefined);
});

test('closing gives up a body that was not read', async () => {
  const { message, stop } = await incoming((response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('abc');
  });
  const reader = message;
  await reader.next(1);
  reader.close();
  assert.is(message.destroyed, true);
  stop();
});

test('a connection that broke before anybody read is a failure at once, and not waited for', async () => {
  const { message, stop } = await incoming((response) => {
    response.writeHead(200, { 'content-length': '100' }).flushHeaders();
    setTimeout(() => response.socket?.resetAndDestroy(), 5);
  });
  await waitFor('the end of the connection', () => message.destroyed);
  const error = await message.next(1).catch((cause: unknown) => cause);
  assert.instance(error, S3Error);
  assert.is((error as unknown as S3Error).status, 503);
  stop();
});

test.run();
