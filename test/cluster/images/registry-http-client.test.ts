import { once } from 'node:events';
import http from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type ConnectRules,
  createRegistryHttpClient,
  judgedLookup,
  placeOf,
} from '../../../src/cluster/images/registry-http-client.ts';
import { createAgent } from '../../../src/runtime/net/http-client/agent.ts';
import { listen } from '../../support/loopback.ts';

const test = suite<{ port: number; stop: () => void }>('addresses that registries are asked at');

test.before(async (context) => {
  const server = http.createServer((_request, response) => response.end('here'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.port = (server.address() as AddressInfo).port;
  context.stop = () => server.close();
});
test.after(({ stop }) => stop());

/** Each look-up of the name gives the next answer. */
function resolving(...answers: readonly string[][]): NonNullable<ConnectRules['lookup']> {
  const left = [...answers];
  return (_host, _options, done) => {
    const addresses = left.shift() ?? [];
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

function ask(url: string, rules: ConnectRules): Promise<string> {
  const agent = createAgent('http:', { maxTotalSockets: 1 }, { lookup: judgedLookup(rules) });
  return new Promise<string>((resolve, reject) => {
    http
      .get(url, { agent }, (response) => void response.toArray().then((all) => resolve(all.join('')), reject))
      .on('error', reject);
  }).finally(() => agent.destroy());
}

const refused = (asking: Promise<unknown>) =>
  asking.then(
    () => 'connected',
    (error: NodeJS.ErrnoException) => error.code,
  );

test('are judged by what the name resolves to for this connection', async ({ port }) => {
  const url = `http://registry.example:${port}/`;
  assert.is(await ask(url, { local: true, lookup: resolving(['127.0.0.1']) }), 'here');
  for (const address of ['127.0.0.1', '0.0.0.0', '::ffff:127.0.0.1', '::1', '::'])
    assert.is(
      await refused(ask(url, { local: false, lookup: resolving([address]) })),
      'ADDRESS_REFUSED',
      address,
    );
});

test('where one of several is unsuitable, none is taken', async ({ port }) => {
  const lookup = resolving(['10.0.0.1', '127.0.0.1']);
  assert.is(
    await refused(ask(`http://registry.example:${port}/`, { local: false, lookup })),
    'ADDRESS_REFUSED',
  );
});

test('a literal is judged although no name is looked up, and a trusted place is not', async ({ port }) => {
  assert.is(await refused(ask(`http://127.0.0.1:${port}/`, { local: false })), 'ADDRESS_REFUSED');
  const trusted = new Set([placeOf(new URL(`http://127.0.0.1:${port}/x`))]);
  assert.is(await ask(`http://127.0.0.1:${port}/`, { local: false, trusted }), 'here');
});

test('one that had to wait for a connection to end is refused like any other', async ({ port }) => {
  const lookup = judgedLookup({ local: false, trusted: new Set([`127.0.0.1:${port}`]) });
  const agent = createAgent('http:', { maxTotalSockets: 1 }, { lookup });
  const get = (url: string) =>
    new Promise<string>((resolve, reject) => {
      http
        .get(
          url,
          { agent },
          (response) => void response.toArray().then((all) => resolve(all.join('')), reject),
        )
        .on('error', reject);
    });
  const [first, second] = await Promise.allSettled([
    get(`http://127.0.0.1:${port}/`),
    get('http://169.254.169.254/'),
  ]);
  agent.destroy();
  assert.is(first.status, 'fulfilled');
  assert.is(second.status === 'rejected' && second.reason.code, 'ADDRESS_REFUSED');
});

test('a body in chunks of one byte is refused, and holds up nobody', async () => {
  const chunks = '1\r\nx\r\n'.repeat(500_000);
  const server = createServer((socket) => {
    const answer = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
    socket.on('error', () => {}).once('data', () => socket.end(answer));
  });
  const { url, address, stop } = await listen(server);
  const client = createRegistryHttpClient({ local: true, trusted: new Set([address]) });
  const request = { method: 'GET', url: new URL(url), headers: {}, maxBytes: 1_048_576 } as const;
  const sent = client.send({ ...request, signal: new AbortController().signal });
  const message = await sent.then(
    () => 'read',
    (error: Error) => error.message,
  );
  assert.match(message, /too many small pieces/);
  client.close();
  await stop();
});

test.run();
