import { get, globalAgent } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createRegistryHttpClient } from '../../../../src/cluster/images/registry-http-client.ts';
import { kubeClientOver } from '../../../../src/cluster/kube/create-client.ts';
import { connectionDefaults } from '../../../../src/keyserver/connection.ts';
import { createJsonHttpClient } from '../../../../src/keyserver/json-http-client.ts';
import { askPod } from '../../../../src/plugins/validate/cluster/ask-pod.ts';
import { limitAnswer } from '../../../../src/runtime/net/http-client/limit-answer.ts';
import { fakeClient } from '../../../plugins/validate/cluster/fake-cluster.ts';
import { contextOf } from '../../../plugins/validate/test-context.ts';
import { type Loopback, listen } from '../../../support/loopback.ts';

const interim = 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n';
const answer = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';

interface Context {
  /** Sends `before` and then the answer. */
  server: Loopback;
  before: string;
  sockets: Socket[];
}

const test = suite<Context>('interim answers before the answer');

test.before.each(async (context) => {
  context.sockets = [];
  const server = createServer((socket) => {
    context.sockets.push(socket);
    socket.on('error', () => {}).once('data', () => socket.end(context.before + answer));
  });
  context.server = await listen(server);
});
test.after.each(async ({ server, sockets }) => {
  for (const socket of sockets) socket.destroy();
  await server.stop();
});

type Ask = (server: Loopback) => Promise<unknown>;

const signal = new AbortController().signal;

/** What each client makes of the answer; rejects if it takes none. */
const clients: Readonly<Record<string, Ask>> = {
  async registry({ url, address }) {
    const client = createRegistryHttpClient({ local: true, trusted: new Set([address]) });
    const request = { method: 'GET', url: new URL(url), headers: {}, maxBytes: 1_000, signal } as const;
    return client.send(request).finally(() => client.close());
  },
  async 'API server'({ url }) {
    const client = kubeClientOver({
      ...{ server: new URL(url), origin: 'test', close: () => {} },
      credentials: async () => ({ headers: {}, agent: globalAgent }),
    });
    return client.request({ path: '/api' });
  },
  async 'key server'({ url }) {
    const address = new URL(url);
    const client = createJsonHttpClient(
      {
        ...connectionDefaults,
        ...{ address, namespace: undefined, userAgent: 'test', skipVerify: false, followStandby: false },
        tls: { caFiles: [], caPath: undefined, client: undefined },
      },
      undefined,
    );
    const request = { method: 'GET', origin: address, path: '/v1/x', headers: {}, timeoutMs: 10_000 };
    return client.exchange(request).finally(() => client.close());
  },
  async pod({ port }) {
    const cluster = async () => ({ ...fakeClient({ objects: [], pages: {} }), origin: 'service account' });
    const pod = { namespace: 'shop', name: 'web', address: '127.0.0.1' };
    const told = await askPod(contextOf({ cluster }), pod, port, 'healthz');
    if (told.kind !== 'ok') throw new Error('the pod was asked in vain');
    return told;
  },
};

for (const [name, ask] of Object.entries(clients)) {
  test(`${name}: a few are passed over`, async (context) => {
    context.before = interim.repeat(16);
    await ask(context.server);
  });

  test(`${name}: more end the request`, async (context) => {
    context.before = interim.repeat(17);
    await ask(context.server).then(
      () => assert.unreachable('an answer was taken'),
      () => undefined,
    );
  });
}

test('those of one packet are not parsed, although a million have come', async (context) => {
  context.before = interim.repeat(1_000_000);
  let parsed = 0;
  const outgoing = get(context.server.url, { agent: false });
  outgoing.on('information', () => {
    parsed += 1;
  });
  const { message } = await new Promise<Error>((resolve) => limitAnswer(outgoing).on('error', resolve));
  assert.match(message, /more than 16 interim answers/);
  assert.is(parsed, 17);
});

test.run();
