import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ClientLimits, Http1Client } from '../../../src/objects/net/http1-client.ts';
import type { Http1Connection, ResponseHandler } from '../../../src/objects/net/http1-connection.ts';
import type { ResponseHead } from '../../../src/runtime/net/http1.ts';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { freePort } from '../../support/ports.ts';
import { waitFor } from '../../support/wait-for.ts';

const test = suite('raw HTTP/1.1 client');

const usual: ClientLimits = { sockets: 4, connectMs: 5_000, keptMs: 5_000 };

interface Stand {
  readonly client: Http1Client;
  readonly sockets: Socket[];
  /** What each connection has ended with. */
  readonly ends: string[];
  stop(): void;
}

const authority = createCertificateAuthority();

/** A client before a server that answers each piece that comes. */
async function stand(
  onData: (socket: Socket, text: string) => void,
  limits: Partial<ClientLimits> = {},
  secure = false,
): Promise<Stand> {
  const sockets: Socket[] = [];
  const ends: string[] = [];
  const serve = (socket: Socket) => {
    sockets.push(socket);
    socket.on('data', (data) => onData(socket, data.toString('latin1')));
    socket.on('end', () => ends.push('fin'));
    socket.on('error', (error: NodeJS.ErrnoException) => ends.push(error.code ?? ''));
  };
  const server: Server = secure
    ? createTlsServer(authority.issue({ commonName: 'server' }), serve)
    : createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const tls = secure ? { ca: authority.cert } : undefined;
  const client = new Http1Client({ host: '127.0.0.1', port, tls }, { ...usual, ...limits }, 1_000);
  return {
    client,
    sockets,
    ends,
    stop() {
      client.close();
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

interface RequestOutcome {
  readonly head: ResponseHead | undefined;
  readonly body: string;
  readonly error: (Error & { code?: string }) | undefined;
  readonly unseen: boolean;
}

/** Sends one request and gathers what comes of it. */
function ask(
  client: Http1Client,
  onConnection?: (connection: Http1Connection) => void,
): Promise<RequestOutcome> {
  return new Promise((resolve) => {
    let head: ResponseHead | undefined;
    const pieces: Buffer[] = [];
    const settle = (error?: Error, unseen = false) =>
      resolve({ head, body: Buffer.concat(pieces).toString('latin1'), error, unseen });
    const handler: ResponseHandler = {
      continued() {},
      head(value) {
        head = value;
      },
      data: (bytes) => void pieces.push(Buffer.from(bytes)),
      ended: () => settle(),
      failed: (error, unseen) => settle(error, unseen),
    };
    client.acquire({
      connected(connection) {
        onConnection?.(connection);
        connection.begin(handler, false, [Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')], true);
      },
      failed: (error) => settle(error),
    });
  });
}

const ok = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

test('a connection is kept, and the one used last comes first', async () => {
  const { client, sockets, stop } = await stand((socket) => socket.write(ok('hello')));
  assert.is((await ask(client)).body, 'hello');
  assert.is((await ask(client)).body, 'hello');
  assert.is(sockets.length, 1);
  await Promise.all([ask(client), ask(client), ask(client)]);
  assert.is(sockets.length, 3);
  for (let round = 0; round < 6; round++) await ask(client);
  assert.is(sockets.length, 3);
  stop();
});

test('a host name that ends in a dot is named without it', async () => {
  const names: unknown[] = [];
  const server = createTlsServer(authority.issue({ commonName: 'server' }), (socket) => {
    names.push(socket.servername);
    socket.on('data', () => socket.write(ok('hello')));
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = new Http1Client({ host: 'localhost.', port, tls: { ca: authority.cert } }, usual, 1_000);
  assert.is((await ask(client)).body, 'hello');
  assert.equal(names, ['localhost']);
  client.close();
  server.close();
});

test('over TLS, records of one read are handed over together, and whole', async () => {
  const body = Buffer.alloc(3 * 1024 * 1024, 'svc works ').toString();
  const { client, stop } = await stand((socket) => socket.write(ok(body)), {}, true);
  const pieces: Buffer[] = [];
  const outcome = new Promise<unknown>((resolve) => {
    client.acquire({
      connected: (connection) =>
        connection.begin(
          {
            continued() {},
            head() {},
            data: (bytes) => void pieces.push(Buffer.from(bytes)),
            ended: () => resolve('ended'),
            failed: resolve,
          },
          false,
          [Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')],
          true,
        ),
      failed: resolve,
    });
  });
  assert.is(await outcome, 'ended');
  assert.ok(Buffer.concat(pieces).toString() === body);
  // a record holds 16 KiB, so that one by one they would be 192
  assert.ok(pieces.length < 130, `${pieces.length} pieces`);
  assert.is((await ask(client)).body.length, body.length);
  stop();
});

test('over TLS, what came before the end of a connection counts as an answer that was cut', async () => {
  const { client, stop } = await stand(
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'),
    {},
    true,
  );
  const { head, body, error, unseen } = await ask(client);
  assert.equal([head?.status, body, unseen], [200, 'half', false]);
  assert.instance(error, Error);
  stop();
});

test('over TLS, a server that speaks unasked loses its connection before anybody uses it', async () => {
  const { client, sockets, stop } = await stand((socket) => socket.write(ok('hello')), {}, true);
  assert.is((await ask(client)).body, 'hello');
  sockets[0]?.write(ok('for nobody'));
  await waitFor('the end of the connection', () => sockets[0]?.destroyed === true);
  assert.is((await ask(client)).body, 'hello');
  assert.is(sockets.length, 2);
  stop();
});

test('one beyond the bound waits for a connection that comes free', async () => {
  const { client, sockets, stop } = await stand((socket) => socket.write(ok('x')), { sockets: 2 });
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => ask(client)));
  assert.ok(outcomes.every(({ body }) => body === 'x'));
  assert.is(sockets.length, 2);
  stop();
});

test('a connection that was paused over the end of an answer reads on for its next user', async () => {
  const { client, sockets, stop } = await stand((socket) => socket.write(ok('hello')));
  const paused = await new Promise<string>((resolve) => {
    client.acquire({
      connected(connection) {
        const data = () => connection.pause();
        const handler = { continued() {}, head() {}, data, ended: () => resolve('ended'), failed() {} };
        connection.begin(handler, false, [Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')], true);
      },
      failed: () => resolve('failed'),
    });
  });
  assert.is(paused, 'ended');
  assert.is((await ask(client)).body, 'hello');
  assert.is(sockets.length, 1);
  stop();
});

test('a paused connection holds the server back, and reads on when it is told to', async () => {
  const body = 'x'.repeat(16_000_000);
  const { client, sockets, stop } = await stand((socket) => socket.write(ok(body)));
  let used: Http1Connection | undefined;
  const first = ask(client, (connection) => {
    used = connection;
    connection.pause();
  });
  await waitFor('the answer', () => sockets[0]?.writableLength);
  await delay(50);
  assert.ok((sockets[0]?.writableLength ?? 0) > 0);
  used?.resume();
  assert.is((await first).body.length, body.length);
  stop();
});

test('bytes behind the answer end the connection, and not the answer', async () => {
  const { client, sockets, stop } = await stand((socket) => socket.write(`${ok('one')}${ok('two')}`));
  assert.is((await ask(client)).body, 'one');
  assert.is((await ask(client)).body, 'one');
  assert.is(sockets.length, 2);
  stop();
});

test('what a server says without being asked ends a kept connection', async () => {
  const { client, sockets, stop } = await stand((socket) => {
    socket.write(ok('one'));
    setTimeout(() => socket.write(ok('forged')), 20);
  });
  await ask(client);
  await waitFor('the end of it', () => sockets[0]?.destroyed === true || sockets[0]?.closed === true);
  assert.is((await ask(client)).body, 'one');
  stop();
});

test('a kept connection that the server has closed is told apart from one that it has answered on', async () => {
  let requests = 0;
  const { client, stop } = await stand((socket) => {
    requests += 1;
    if (requests === 2) return void socket.resetAndDestroy();
    if (requests === 4) return void socket.write('HTTP/1.1 2', () => socket.resetAndDestroy());
    socket.write(ok('x'));
  });
  await ask(client);
  const unseen = await ask(client);
  assert.equal([unseen.error?.code, unseen.unseen], ['ECONNRESET', true]);
  await ask(client);
  const seen = await ask(client);
  assert.equal([seen.error !== undefined, seen.unseen], [true, false]);
  stop();
});

test('a first request that is reset was perhaps seen', async () => {
  const { client, stop } = await stand((socket) => void socket.resetAndDestroy());
  const { error, unseen } = await ask(client);
  assert.equal([error?.code, unseen], ['ECONNRESET', false]);
  stop();
});

for (const [name, text] of [
  ['no HTTP', 'SSH-2.0-x\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  [
    'a length and chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['an endless head', `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(20_000)}`],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
] as const) {
  test(`${name} is a failure, and the connection is reset`, async () => {
    const { client, sockets, stop } = await stand((socket) => socket.write(text));
    assert.ok((await ask(client)).error instanceof Error);
    await waitFor('the end of it', () => sockets[0]?.closed === true);
    stop();
  });
}

test('an answer before the end of the request ends the connection by a reset', async () => {
  const { client, sockets, ends, stop } = await stand((socket) => socket.write(ok('early')));
  const outcome = await new Promise<string>((resolve) => {
    client.acquire({
      connected: (connection) =>
        connection.begin(
          {
            continued() {},
            head() {},
            data() {},
            ended: () => resolve('ended'),
            failed: (e) => resolve(e.message),
          },
          false,
          [Buffer.from('PUT / HTTP/1.1\r\ncontent-length: 10\r\n\r\nhalf')],
          false,
        ),
      failed: () => undefined,
    });
  });
  assert.is(outcome, 'ended');
  await waitFor('the reset', () => ends.length > 0 || sockets[0]?.closed === true);
  assert.equal(ends, ['ECONNRESET']);
  stop();
});

test('an idle connection is closed in order after its time', async () => {
  const { client, ends, stop } = await stand((socket) => socket.write(ok('x')), {
    keptMs: 30,
    connectMs: 100,
  });
  await ask(client);
  await waitFor('the end of it', () => ends.length > 0);
  assert.equal(ends, ['fin']);
  stop();
});

test('nobody listens: each request is told, and none waits', async () => {
  const port = await freePort();
  const client = new Http1Client(
    { host: '127.0.0.1', port, tls: undefined },
    { ...usual, sockets: 2 },
    1_000,
  );
  const outcomes = await Promise.all(Array.from({ length: 7 }, () => ask(client)));
  assert.ok(outcomes.every(({ error }) => error?.code === 'ECONNREFUSED'));
  client.close();
});

test('a wait that was given up takes no connection', async () => {
  const { client, stop } = await stand((socket) => setTimeout(() => socket.write(ok('x')), 30), {
    sockets: 1,
  });
  const first = ask(client);
  let taken = false;
  const giveUp = client.acquire({
    connected: () => {
      taken = true;
    },
    failed: () => undefined,
  });
  giveUp();
  assert.is((await first).body, 'x');
  await delay(10);
  assert.is(taken, false);
  assert.is((await ask(client)).body, 'x');
  stop();
});

test('answers come whole wherever the server cuts them', async () => {
  const chunked =
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n';
  let cuts: readonly number[] = [];
  const { client, stop } = await stand(async (socket) => {
    let from = 0;
    for (const cut of [...cuts, chunked.length]) {
      socket.write(chunked.slice(from, cut));
      from = cut;
      await turn();
    }
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(chunked.length - 1), { maxLength: 6 }), async (places) => {
      cuts = [...places].sort((one, other) => one - other);
      assert.is((await ask(client)).body, 'hello world');
    }),
    { numRuns: 50 },
  );
  stop();
});

test.run();
