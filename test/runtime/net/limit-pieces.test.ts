import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { limitPieces } from '../../../src/runtime/net/limit-pieces.ts';
import { listen } from '../../support/loopback.ts';

const test = suite('limitPieces');

const sized = (count: number, size: number): Buffer[] => Array(count).fill(Buffer.alloc(size, 'x'));

/** Reads everything. @returns the length, or the error's message */
async function lengthOf(stream: Readable): Promise<number | string> {
  let length = 0;
  try {
    for await (const chunk of stream) length += chunk.length;
    return length;
  } catch (error) {
    return (error as Error).message;
  }
}

function pushed(pieces: readonly Buffer[]): Readable {
  const stream = limitPieces(new Readable({ read() {} }));
  for (const piece of pieces) stream.push(piece);
  stream.push(null);
  return stream;
}

test('a body of usual pieces is read whole, whatever its length', async () => {
  assert.is(await lengthOf(pushed(sized(1_000, 16_384))), 16_384_000);
  assert.is(await lengthOf(pushed(sized(50_000, 64))), 3_200_000);
  assert.is(await lengthOf(pushed([])), 0);
});

test('a small one may come in single bytes, a longer one not', async () => {
  assert.is(await lengthOf(pushed(sized(1_000, 1))), 1_000);
  assert.match(String(await lengthOf(pushed(sized(1_100, 1)))), /too many small pieces/);
  assert.match(String(await lengthOf(pushed(sized(50_000, 32)))), /too many small pieces/);
});

const chunks = (count: number): string =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`;

test('chunks of one byte are counted, although a packet has many of them', async () => {
  const server = createServer((socket: Socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(chunks(200_000)));
  });
  const { url, stop } = await listen(server);
  const [response] = (await once(
    get(url, { agent: false }).on('error', () => {}),
    'response',
  )) as [IncomingMessage];
  assert.match(String(await lengthOf(limitPieces(response))), /too many small pieces/);
  assert.ok(response.socket.bytesRead < 2_000_000, `${response.socket.bytesRead} bytes were read`);
  await stop();
});

test.run();
