import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { OperationHandler } from '../../../../src/objects/context.ts';
import { RawClient, serve } from '../support/serve.ts';

const test = suite('back-pressure towards callers');

const chunk = Buffer.alloc(256 * 1024, 'x');
const request = 'GET /bkt/k HTTP/1.1\r\nHost: h\r\n\r\n';

function endless(written: { count: number }, outcome: PromiseWithResolvers<unknown>): OperationHandler {
  return async (_context, { answer }) => {
    answer.head(200, {});
    try {
      for (;;) {
        await answer.write(chunk);
        written.count++;
      }
    } catch (error) {
      outcome.resolve(error);
      throw error;
    }
  };
}

/** Waits until the handler has stopped making progress: what the kernel holds is full. */
async function settled(written: { count: number }): Promise<number> {
  for (let same = 0, last = -1; same < 200; await turn()) {
    same = written.count === last ? same + 1 : 0;
    last = written.count;
  }
  return written.count;
}

/** A caller that has asked for an endless answer and reads nothing of it. */
async function unread(options: Parameters<typeof serve>[1] = {}) {
  const written = { count: 0 };
  const outcome = Promise.withResolvers<unknown>();
  const server = await serve({ GetObject: endless(written, outcome) }, options);
  const client = new RawClient(server.port);
  client.socket.pause();
  client.send(request);
  return { written, outcome, server, client };
}

test('a caller that does not read holds the handler back', async () => {
  const { written, outcome, server, client } = await unread();
  const held = await settled(written);
  assert.ok(held < 128, `wrote ${held} chunks into nothing`);
  client.socket.resume();
  while (written.count < held + 40) await turn();
  client.destroy();
  assert.is(((await outcome.promise) as Error).name, 'ClientDisconnected');
  await server.stop();
});

test('a caller that resets the connection while its answer leaves is no error of the proxy', async () => {
  const { written, outcome, server, client } = await unread();
  await settled(written);
  client.socket.resetAndDestroy();
  await outcome.promise;
  await server.stop();
  assert.equal(server.counted.requests, ['GetObject 499']);
  assert.equal(
    server.lines.filter(({ level }) => level !== 'debug'),
    [],
  );
});

test('a caller that reads nothing for too long is given up', async () => {
  const { outcome, server, client } = await unread({ stallMs: 100 });
  assert.is(((await outcome.promise) as Error).name, 'ClientDisconnected');
  client.destroy();
  await server.stop();
});

test('a buffer may be used again once it was written', async () => {
  const server = await serve({
    GetObject: async (_context, { answer }) => {
      const slab = Buffer.alloc(300 * 1024);
      for (let round = 0; round < 32; round++) {
        slab.fill(round);
        await answer.write(slab);
      }
      slab.fill(255);
      await answer.end();
    },
  });
  const body = Buffer.from(await (await fetch(`${server.url}/bkt/k`)).arrayBuffer());
  assert.is(body.length, 32 * 300 * 1024);
  for (let round = 0; round < 32; round++) {
    const part = body.subarray(round * 300 * 1024, (round + 1) * 300 * 1024);
    assert.ok(part.equals(Buffer.alloc(300 * 1024, round)), `round ${round}`);
  }
  assert.is(server.counted.sent, body.length);
  await server.stop();
});

test('an answer that is whole at once has a length', async () => {
  const server = await serve({ GetObject: async (_context, { answer }) => answer.end('äöü') });
  const response = await fetch(`${server.url}/bkt/k`);
  assert.is(response.headers.get('content-length'), '6');
  assert.is(await response.text(), 'äöü');
  await server.stop();
});

test.run();
