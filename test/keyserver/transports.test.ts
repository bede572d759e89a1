import { type AddressInfo, createServer } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { VaultConnectionSettings } from '../../src/keyserver/connection.ts';
import type { VaultTransport } from '../../src/keyserver/contract.ts';
import { createLeanTransport } from '../../src/keyserver/lean-transport.ts';
import { createNodeVaultTransport } from '../../src/keyserver/node-vault-transport.ts';
import { connectionTo, type FakeKeyServer, fakeKeyServer } from './fake-key-server.ts';
import { rejection, vaultFailure } from './rejection.ts';

type Create = (connection: VaultConnectionSettings) => VaultTransport | Promise<VaultTransport>;

interface Context {
  server: FakeKeyServer;
  open: VaultTransport[];
}

const transports: Readonly<Record<string, Create>> = {
  lean: createLeanTransport,
  'node-vault': createNodeVaultTransport,
};

for (const [name, create] of Object.entries(transports)) {
  const test = suite<Context>(`${name} transport`);

  test.before.each(async (context) => {
    context.server = await fakeKeyServer(() => ({ status: 200, json: { data: { ok: true } } }));
    context.open = [];
  });

  test.after.each(async ({ server, open }) => {
    for (const transport of open) transport.close();
    await server.stop();
  });

  const connect = async ({ server, open }: Context, changes: Partial<VaultConnectionSettings> = {}) => {
    const transport = await create(connectionTo(server.url, changes));
    open.push(transport);
    return transport;
  };

  test('sends method, encoded path, token, namespace and body', async (context) => {
    const transport = await connect(context, { namespace: 'team/app' });
    const answer = await transport.send({
      method: 'POST',
      path: 'transit/encrypt/a%2Fb%20c',
      token: 's.one',
      body: { plaintext: 'x<&>' },
    });
    assert.equal(answer, { status: 200, body: { data: { ok: true } } });
    const [request] = context.server.seen;
    assert.is(request?.method, 'POST');
    assert.is(request?.path, 'transit/encrypt/a%2Fb%20c');
    assert.equal(request?.json, { plaintext: 'x<&>' });
    assert.is(request?.headers['x-vault-token'], 's.one');
    assert.is(request?.headers['x-vault-namespace'], 'team/app');
    assert.is(request?.headers['x-vault-request'], 'true');
    assert.match(String(request?.headers['content-type']), /^application\/json/);
  });

  test('takes no token, namespace, prefix or address from the environment', async (context) => {
    const set = {
      VAULT_TOKEN: 's.env',
      VAULT_NAMESPACE: 'env',
      VAULT_PREFIX: '/env',
      VAULT_ADDR: 'http://127.0.0.1:1',
    };
    const before = { ...process.env };
    Object.assign(process.env, set);
    try {
      const transport = await connect(context);
      await transport.send({ method: 'GET', path: 'sys/mounts' });
    } finally {
      for (const key of Object.keys(set)) {
        if (before[key] === undefined) delete process.env[key];
        else process.env[key] = before[key];
      }
    }
    const [request] = context.server.seen;
    assert.is(request?.path, 'sys/mounts');
    assert.is(request?.headers['x-vault-token'], undefined);
    assert.is(request?.headers['x-vault-namespace'], undefined);
  });

  test('lists by GET with list=true, and sends GET and DELETE without a body', async (context) => {
    const transport = await connect(context);
    await transport.send({ method: 'LIST', path: 'kv/metadata' });
    await transport.send({ method: 'GET', path: 'kv/data/x' });
    await transport.send({ method: 'DELETE', path: 'kv/data/x' });
    assert.equal(
      context.server.seen.map(({ method, path, json }) => [method, path, json]),
      [
        ['GET', 'kv/metadata?list=true', undefined],
        ['GET', 'kv/data/x', undefined],
        ['DELETE', 'kv/data/x', undefined],
      ],
    );
  });

  test('keeps the path of the address', async (context) => {
    const transport = await create(connectionTo(new URL('/gateway/vault/', context.server.url)));
    context.open.push(transport);
    let path: string | undefined;
    context.server.handler = (_request, response) => {
      path = response.req.url;
      return { status: 200, json: {} };
    };
    await transport.send({ method: 'GET', path: 'sys/health' });
    assert.is(path, '/gateway/vault/v1/sys/health');
  });

  test('answers every status with its body', async (context) => {
    const transport = await connect(context);
    for (const status of [200, 202, 400, 403, 404, 429, 473, 500, 501, 503]) {
      context.server.handler = () => ({ status, json: { errors: [`status ${status}`] } });
      const answer = await transport.send({ method: 'GET', path: 'sys/health' });
      assert.equal(answer, { status, body: { errors: [`status ${status}`] } });
    }
    context.server.handler = () => ({ status: 204 });
    assert.equal(await transport.send({ method: 'POST', path: 'sys/seal' }), {
      status: 204,
      body: undefined,
    });
  });

  test('an error page is an answer without a body; a page with 200 is no answer', async (context) => {
    const transport = await connect(context);
    let status = 502;
    let page = '<html>';
    context.server.handler = (_request, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end(page);
      return undefined;
    };
    assert.equal(await transport.send({ method: 'GET', path: 'a' }), { status: 502, body: undefined });
    status = 200;
    page = '{"data":"in a page"}';
    await vaultFailure(transport.send({ method: 'GET', path: 'a' }), 'unavailable');
    context.server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":');
      return undefined;
    };
    await vaultFailure(transport.send({ method: 'GET', path: 'a' }), 'unavailable');
  });

  test('gives up on an answer that does not come, or does not end', async (context) => {
    const transport = await connect(context, { requestTimeoutMs: 100 });
    context.server.handler = () => undefined;
    assert.match(
      (await vaultFailure(transport.send({ method: 'GET', path: 'a' }), 'unavailable')).message,
      /100 ms/,
    );
    context.server.handler = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      return undefined;
    };
    await vaultFailure(transport.send({ method: 'GET', path: 'a' }), 'unavailable');
    const shorter = transport.send({ method: 'GET', path: 'a', timeoutMs: 20 });
    assert.match((await vaultFailure(shorter, 'unavailable')).message, /20 ms/);
  });

  test('an answer that is cut is none', async (context) => {
    const transport = await connect(context);
    context.server.handler = (request, response) => {
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
        .write('{"data":1}');
      setTimeout(() => request.socket.destroy(), 20);
      return undefined;
    };
    const { message } = await vaultFailure(transport.send({ method: 'GET', path: 'a' }), 'unavailable');
    assert.match(message, /ECONNRESET/);
  });

  test('bounds the size of an answer', async (context) => {
    const transport = await connect(context, { maxAnswerBytes: 10_000 });
    context.server.handler = () => ({ status: 200, json: 'x'.repeat(9_000) });
    assert.is((await transport.send({ method: 'GET', path: 'a' })).status, 200);
    context.server.handler = () => ({ status: 200, json: 'x'.repeat(11_000) });
    const { message } = await vaultFailure(transport.send({ method: 'GET', path: 'a' }), 'unavailable');
    assert.match(message, /larger than 10000 bytes/);
  });

  test('refused connections and hanging handshakes are unavailable', async (context) => {
    const silent = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const hanging = await create(
      connectionTo(new URL(`https://127.0.0.1:${port}`), { connectTimeoutMs: 50 }),
    );
    const { cause } = await vaultFailure(hanging.send({ method: 'GET', path: 'a' }), 'unavailable');
    assert.match(String(cause), /no connection within 50 ms/);
    hanging.close();
    await new Promise((resolve) => silent.close(resolve));
    const refused = await create(connectionTo(new URL(`http://127.0.0.1:${port}`)));
    context.open.push(refused);
    const { message } = await vaultFailure(refused.send({ method: 'GET', path: 'a' }), 'unavailable');
    assert.match(message, /ECONNREFUSED/);
  });

  test('rejects with the reason of the signal, before and while it waits', async (context) => {
    const transport = await connect(context);
    const reason = new Error('client went away');
    const early = transport.send({ method: 'GET', path: 'a', signal: AbortSignal.abort(reason) });
    assert.is(await rejection(early), reason);
    assert.is(context.server.seen.length, 0);
    const abort = new AbortController();
    context.server.handler = () => {
      abort.abort(reason);
      return undefined;
    };
    assert.is(await rejection(transport.send({ method: 'GET', path: 'a', signal: abort.signal })), reason);
  });

  test('goes after a standby once, with the token, to the same path', async (context) => {
    const active = await fakeKeyServer(() => ({ status: 200, json: { data: 'active' } }));
    context.server.handler = (request, response) => {
      response.writeHead(307, { location: `${active.url.origin}/v1/${request.path}` }).end();
      return undefined;
    };
    const transport = await connect(context);
    const answer = await transport.send({
      method: 'POST',
      path: 'transit/encrypt/svc',
      token: 's.a',
      body: { a: 1 },
    });
    assert.equal(answer, { status: 200, body: { data: 'active' } });
    assert.is(active.seen[0]?.headers['x-vault-token'], 's.a');
    assert.equal(active.seen[0]?.json, { a: 1 });
    const fixed = await connect(context, { followStandby: false });
    await vaultFailure(fixed.send({ method: 'GET', path: 'a', token: 's.a' }), 'unavailable');
    assert.is(active.seen.length, 1);
    await active.stop();
  });

  test('follows no other redirect, so the token goes nowhere else', async (context) => {
    const other = await fakeKeyServer(() => ({ status: 200, json: {} }));
    const { host } = other.url;
    const transport = await connect(context);
    const answerWith = (status: number, location: string) => {
      context.server.handler = (_request, response) => {
        response.writeHead(status, { location }).end();
        return undefined;
      };
      return transport.send({ method: 'GET', path: 'a', token: 's.a' });
    };
    const targets = [
      `http://${host}/v1/other`,
      `http://${host}/v1/a?b`,
      `http://user@${host}/v1/a`,
      `https://${host}/v1/a`,
      '',
    ];
    for (const target of targets) await vaultFailure(answerWith(307, target), 'unavailable');
    for (const status of [301, 302, 303, 308]) {
      assert.is((await answerWith(status, `http://${host}/v1/a`)).status, status);
    }
    assert.is(other.seen.length, 0);
    await other.stop();
  });

  test('a path that is not encoded never leaves', async (context) => {
    const transport = await connect(context);
    for (const path of ['../sys', 'a b', 'a?list=true', 'a#b', '']) {
      await vaultFailure(transport.send({ method: 'GET', path, token: 's.a' }), 'rejected');
    }
    assert.is(context.server.seen.length, 0);
  });

  test('keeps connections, and no more of them than allowed', async (context) => {
    const transport = await connect(context, { maxSockets: 2 });
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 6 }, () => transport.send({ method: 'GET', path: 'a' })));
    }
    assert.is(context.server.seen.length, 18);
    assert.is(new Set(context.server.seen.map(({ socket }) => socket)).size, 2);
  });

  test('goes on after the server has closed a kept connection', async (context) => {
    const transport = await connect(context);
    await transport.send({ method: 'GET', path: 'a' });
    context.server.seen[0]?.socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.is((await transport.send({ method: 'GET', path: 'a' })).status, 200);
  });

  test.run();
}
