import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../../src/core/errors.ts';
import { addressNear, givenAddress } from '../../../src/plugins/dev/listen-choice.ts';

const test = suite('where svc dev listens');

test('a port that is taken gives way to a free one', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  assert.is(await addressNear(port), '127.0.0.1:0');
  server.close();
  await once(server, 'close');
  assert.is(await addressNear(port), `127.0.0.1:${port}`);
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
