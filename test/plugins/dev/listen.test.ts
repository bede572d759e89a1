import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { givenAddress, startNear } from '../../../src/plugins/dev/listen.ts';
import { SvcError } from '../../../src/runtime/errors.ts';
import { rejection } from '../../keyserver/rejection.ts';

const test = suite('where svc dev listens');

/** As the proxy and the health endpoint start and refuse. */
async function start(address: string): Promise<Server> {
  const server = createServer().listen(Number(address.split(':').at(-1)), '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch (cause) {
    throw new SvcError('ADDRESS', 'The address is taken', { nextStep: 'Give another.', cause });
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

test('a port that is taken gives way to a free one', async () => {
  const first = await start('127.0.0.1:0');
  const port = portOf(first);
  const second = await startNear(port, start);
  assert.is.not(portOf(second), port);
  first.close();
  await once(first, 'close');
  const third = await startNear(port, start);
  assert.is(portOf(third), port);
  for (const server of [second, third]) server.close();
});

test('anything else that goes wrong is told at once', async () => {
  const tried: string[] = [];
  const fail = (address: string) => {
    tried.push(address);
    return Promise.reject(new SvcError('ELSE', 'Something else', { nextStep: 'Fix it.' }));
  };
  assert.match(String(await rejection(startNear(9, fail))), /Something else/);
  assert.equal(tried, ['127.0.0.1:9']);
});

test('takes loopback addresses only', () => {
  assert.is(givenAddress('127.0.0.1:9000'), '127.0.0.1:9000');
  assert.is(givenAddress('[::1]:0'), '[::1]:0');
  for (const text of ['0.0.0.0:9000', ':9000', '[::]:9000', 'example.eu:80', '9000', '']) {
    try {
      givenAddress(text);
      assert.unreachable(text);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      assert.is(error.code, 'DEV_LISTEN');
    }
  }
});

test.run();
