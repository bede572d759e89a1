import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { resetSocket } from '../../../src/runtime/net/connections.ts';

const test = suite('resetSocket');

/** Two ends of a connection whose accepting end reads nothing. */
async function pair(): Promise<{ near: Socket; far: Socket; close: () => void }> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[far]] = await Promise.all([once(server, 'connection'), once(near, 'connect')]);
  return { near, far, close: () => server.close() };
}

test('the peer sees a reset', async () => {
  const { near, far, close } = await pair();
  far.resume();
  const [failed] = await Promise.all([once(far, 'error'), resetSocket(near)]);
  assert.is((failed[0] as NodeJS.ErrnoException).code, 'ECONNRESET');
  close();
});

test('a socket whose end is under way is let go of as well', async () => {
  const { near, far, close } = await pair();
  near.write(Buffer.alloc(16 * 1024 * 1024));
  near.end();
  resetSocket(near);
  await once(near, 'close');
  far.destroy();
  close();
});

test.run();
