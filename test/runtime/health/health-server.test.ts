import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../../src/runtime/errors.ts';
import { createHealth } from '../../../src/runtime/health/health.ts';
import { startHealthServer } from '../../../src/runtime/health/health-server.ts';
import {
  type HealthServer,
  listen,
  startLeanHealthServer,
} from '../../../src/runtime/health/lean-health-server.ts';
import { openListener } from '../../../src/runtime/native/listener.ts';
import { http } from '../../support/http.ts';
import { waitFor } from '../../support/wait-for.ts';

for (const [name, start] of Object.entries({
  'health server': startHealthServer,
  'lean health server': startLeanHealthServer,
})) {
  const serving = suite(name);
  const health = createHealth();
  let expose = async () => ({ contentType: 'text/plain', body: 'demo_total 1\n' });
  let server: HealthServer;
  const url = (path: string) => `http://${server.address}${path}`;

  serving.before(async () => {
    server = await start(
      { host: '127.0.0.1', port: 0 },
      { snapshot: health.snapshot, expose: () => expose() },
    );
  });
  serving.after(() => server.close());

  serving('/healthz stays 200 and tells what is degraded', async () => {
    assert.equal((await http(url('/healthz'))).json, { status: 'ok' });
    health.degraded('renewal', 'denied');
    const { status, json } = await http(url('/healthz?probe=1'));
    assert.is(status, 200);
    assert.equal(json, { status: 'degraded', degraded: { renewal: 'denied' } });
    health.recovered('renewal');
  });

  serving('/healthz is 503 until the work has begun', async () => {
    health.notAlive('secrets', 'not fetched yet');
    const { status, json } = await http(url('/healthz'));
    assert.equal([status, json], [503, { status: 'starting', reasons: { secrets: 'not fetched yet' } }]);
    health.alive('secrets');
    assert.is((await http(url('/healthz'))).status, 200);
  });

  serving('/readyz is 503 with the reasons until all is ready', async () => {
    health.notReady('vault', 'no token yet');
    const waiting = await http(url('/readyz'));
    assert.is(waiting.status, 503);
    assert.equal(waiting.json, { status: 'not ready', reasons: { vault: 'no token yet' } });
    health.ready('vault');
    const ready = await http(url('/readyz'));
    assert.equal([ready.status, ready.json], [200, { status: 'ready' }]);
  });

  serving('/metrics shows what is exposed at that moment', async () => {
    assert.is((await http(url('/metrics'))).text, 'demo_total 1\n');
    const before = expose;
    expose = async () => ({ contentType: 'text/plain', body: 'demo_total 2\n' });
    assert.is((await http(url('/metrics'))).text, 'demo_total 2\n');
    expose = () => Promise.reject(new Error('a worker is gone'));
    assert.is((await http(url('/metrics'))).status, 500);
    expose = before;
  });

  serving('answers nothing else', async () => {
    for (const path of ['/', '/healthz/', '/HEALTHZ', '/toString', '/__proto__']) {
      assert.is((await http(url(path))).status, 404, path);
    }
    assert.is((await http(url('/healthz'), { method: 'POST', body: 'x' })).status, 405);
    const head = await http(url('/metrics'), { method: 'HEAD' });
    assert.equal([head.status, head.text], [200, '']);
  });

  serving('refuses headers that are too large and requests that are none', async () => {
    assert.is((await http(url('/healthz'), { headers: { 'x-large': 'x'.repeat(10_000) } })).status, 431);
    const port = Number(server.address.split(':').at(-1));
    const socket = connect(port, '127.0.0.1').end('nonsense\r\n\r\n');
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 400 /);
  });

  serving('a taken or impossible address is a matter of configuration', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const taken = await refusal({ host: '127.0.0.1', port });
    assert.match(taken.message, /is taken/);
    assert.is(taken.exitStatus, 78);
    assert.match((await refusal({ host: '192.0.2.1', port: 0 })).message, /EADDRNOTAVAIL/);
    other.close();
  });

  serving('closes although connections are open', async () => {
    const short = await start({ host: '::1', port: 0 }, { snapshot: health.snapshot, expose });
    assert.match(short.address, /^\[::1\]:\d+$/);
    const socket = connect(Number(short.address.split(':').at(-1)), '::1');
    await once(socket, 'connect');
    socket.write('GET /healthz HTTP/1.1\r\n');
    socket.on('error', () => {});
    const gone = new Promise((resolve) => socket.once('close', resolve));
    await short.close();
    await gone;
  });

  async function refusal(at: { host: string; port: number }): Promise<SvcError> {
    const error = await start(at, { snapshot: health.snapshot, expose }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error instanceof SvcError) return error;
    throw new Error('the address was accepted', { cause: error });
  }
  serving.run();
}

const crowded = suite('health server among many connections');

for (const [name, start] of Object.entries({ startHealthServer, startLeanHealthServer }))
  crowded(`silent ones give way to those that ask (${name})`, async () => {
    const health = createHealth();
    const expose = async () => ({ contentType: 'text/plain', body: '' });
    const server = await start({ host: '127.0.0.1', port: 0 }, { snapshot: health.snapshot, expose });
    const port = Number(server.address.split(':').at(-1));
    const silent = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await Promise.all(silent.map((socket) => once(socket, 'connect')));
    assert.is((await http(`http://${server.address}/healthz`)).status, 200);
    for (const socket of silent) socket.destroy();
    await server.close();
  });

for (const [name, start] of Object.entries({ startHealthServer, startLeanHealthServer }))
  for (const [kind, head] of [
    ['chunks of one byte', 'Transfer-Encoding: chunked'],
    ['a length', 'Content-Length: 1000000000'],
  ] as const)
    crowded(
      `a body with ${kind} is not read: it is answered, and the connection closed (${name})`,
      async () => {
        const expose = async () => ({ contentType: 'text/plain', body: '' });
        const { snapshot } = createHealth();
        const server = await start({ host: '127.0.0.1', port: 0 }, { snapshot, expose });
        const port = Number(server.address.split(':').at(-1));
        const chunks = Buffer.from('1\r\nx\r\n'.repeat(10_000));
        const socket = connect(port, '127.0.0.1').on('error', () => {});
        let answer = '';
        socket.on('data', (bytes) => {
          answer += bytes;
        });
        socket.write(`GET /healthz HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`);
        let sent = 0;
        const send = () => {
          for (; !socket.destroyed && sent < 400; sent++)
            if (!socket.write(chunks)) {
              socket.once('drain', send);
              return;
            }
        };
        await once(socket, 'data');
        send();
        await waitFor('the connection to be closed', () => socket.closed, { timeoutMs: 8_000 });
        assert.match(answer, /^HTTP\/1\.1 200 .*connection: close/is);
        assert.ok(socket.bytesWritten < 20_000_000, `${socket.bytesWritten} bytes were taken`);
        await server.close();
      },
    );

crowded.run();

const lean = suite('lean health server');

lean('a half-open connection is answered, one that ends within its request is closed', async () => {
  const health = createHealth();
  const expose = async () => ({ contentType: 'text/plain', body: '' });
  const server = await startLeanHealthServer(
    { host: '127.0.0.1', port: 0 },
    { snapshot: health.snapshot, expose },
  );
  const port = Number(server.address.split(':').at(-1));
  const said = async (text: string) => {
    let answer = '';
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('data', (more) => {
      answer += more;
    });
    socket.end(text);
    await once(socket, 'close');
    return answer;
  };
  assert.match(await said('GET /healthz HTTP/1.1\r\n\r\n'), /^HTTP\/1\.1 200 OK\r\n/);
  assert.is(await said('GET /healthz HTTP/1.1\r\n'), '');
  await server.close();
});

const nothing = { snapshot: createHealth().snapshot, expose: async () => ({ contentType: '', body: '' }) };

for (const [host, shown, asked] of [
  ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
  ['::1', '[::1]', '[::1]'],
  [undefined, '[::]', '127.0.0.1'],
  ['localhost', '', ''],
] as const)
  lean(`takes connections at ${host ?? 'every address'} at once, and answers them`, async () => {
    const server = await startLeanHealthServer({ host, port: 0 }, nothing);
    const [, address = '', port = ''] = /^(.*):(\d+)$/.exec(server.address) ?? [];
    if (shown !== '') assert.is(address, shown);
    const { status } = await http(`http://${asked || address}:${port}/healthz`);
    assert.is(status, 200);
    await server.close();
  });

lean('an address with a zone is Node’s to listen on: as it stands, no system call takes it', async () => {
  assert.is(openListener({ host: '::1%lo', port: 0 }), undefined);
  const server = await startLeanHealthServer({ host: '::1%lo', port: 0 }, nothing);
  assert.match(server.address, /^\[::1/);
  await server.close();
});

for (const isAccepting of [true, false])
  lean(
    `one that has stopped ${isAccepting ? 'accepting' : 'before it accepted'} is closed once`,
    async () => {
      const server = await startLeanHealthServer({ host: '127.0.0.1', port: 0 }, nothing);
      if (isAccepting) assert.is((await http(`http://${server.address}/healthz`)).status, 200);
      server.stop?.();
      await server.close();
      const port = Number(server.address.split(':').at(-1));
      const second = await startLeanHealthServer({ host: '127.0.0.1', port }, nothing);
      await second.close();
    },
  );

lean('one that is closed before it has accepted anything leaves the port free', async () => {
  const first = await startLeanHealthServer({ host: '127.0.0.1', port: 0 }, nothing);
  const port = Number(first.address.split(':').at(-1));
  await first.close();
  const second = await startLeanHealthServer({ host: '127.0.0.1', port }, nothing);
  assert.is((await http(`http://${second.address}/healthz`)).status, 200);
  await second.close();
});

lean('connections that cannot be accepted end nothing', async () => {
  const server = createServer();
  await listen(server, { host: '127.0.0.1', port: 0 });
  for (const code of ['EMFILE', 'ENOMEM']) server.emit('error', Object.assign(new Error(code), { code }));
  assert.ok(server.listening);
  server.close();
});

lean.run();
