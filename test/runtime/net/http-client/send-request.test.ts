import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createSilentServer, type Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { collect } from '../../../../src/runtime/bounds/collect.ts';
import { lookupOf } from '../../../../src/runtime/net/host-names.ts';
import { createAgent } from '../../../../src/runtime/net/http-client/agent.ts';
import {
  type HttpResponse,
  RequestError,
  sendRequest,
  withinTime,
} from '../../../../src/runtime/net/http-client/send-request.ts';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { listen } from '../../../support/loopback.ts';

interface Context {
  answer: RequestListener;
  url: URL;
  stop: () => Promise<void>;
}

const test = suite<Context>('a request of any client that is no hot path');
const authority = createCertificateAuthority('the CA');
const never = new AbortController().signal;

async function serve(context: Context, server: Server): Promise<void> {
  const { url, stop } = await listen(server);
  context.url = new URL(`${url}/default?of=url`);
  context.stop = stop;
}

test.before.each(async (context) => {
  context.answer = (_request, response) => void response.end('here');
  await serve(
    context,
    createServer((request, response) => context.answer(request, response)),
  );
});
test.after.each(({ stop }) => stop());

const failure = (work: Promise<unknown>): Promise<RequestError> =>
  work.then(
    () => assert.unreachable('it succeeded'),
    (error) => error,
  );

const textOf = async ({ body }: HttpResponse) =>
  (await collect(body, 1_000, () => new Error('too long'))).toString();

test('sends method, path, headers and body, and gives any answer', async (context) => {
  const { url } = context;
  context.answer = ({ method, url, headers }, response) => {
    const told = [method, url, headers['user-agent'], headers['content-length'], headers['x-own']];
    response.writeHead(307, { location: '/elsewhere' }).end(told.join(' '));
  };
  const plain = await sendRequest({ url, agent: false, signal: never });
  assert.is(plain.status, 307);
  assert.is(plain.headers.location, '/elsewhere');
  assert.is(await textOf(plain), 'GET /default?of=url svc  ');
  const more = {
    method: 'POST',
    path: '/a/%2e%2e/b',
    body: 'ä',
    headers: { 'X-Own': '1', 'User-Agent': 'me' },
  };
  const full = await sendRequest({ url, agent: false, signal: never, ...more });
  assert.is(await textOf(full), 'POST /a/%2e%2e/b me 2 1');
});

test('tells no connection, a lost one, and an untrusted server apart from the rest', async (context) => {
  const { url } = context;
  context.answer = (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half');
    setTimeout(() => response.destroy(), 20);
  };
  const half = await sendRequest({ url, agent: false, signal: never });
  assert.is((await failure(textOf(half))).kind, 'no-answer');
  const pieces = await sendRequest({ url, agent: false, signal: never });
  assert.is((await failure(pieces.eachPiece(() => {}))).kind, 'no-answer');
  await context.stop();
  const refused = await failure(sendRequest({ url, agent: false, signal: never }));
  assert.ok(refused instanceof RequestError);
  assert.equal([refused.kind, refused.code], ['no-answer', 'ECONNREFUSED']);
  const identity = authority.issue({ commonName: 'the server' });
  await serve(
    context,
    createTlsServer(identity, (_request, response) => void response.end()),
  );
  const untrusted = await failure(sendRequest({ url: context.url, agent: false, signal: never }));
  assert.is(untrusted.kind, 'untrusted');
});

test('names a host without its last dot, and an address not at all', async (context) => {
  await context.stop();
  const names: unknown[] = [];
  const identity = authority.issue({ commonName: 'the server' });
  await serve(
    context,
    createTlsServer(identity, ({ socket }, response) => {
      names.push((socket as TLSSocket).servername);
      response.end();
    }),
  );
  const agent = createAgent('https:', { ca: authority.cert }, { lookup: lookupOf });
  for (const host of ['localhost.', '127.0.0.1']) {
    const url = new URL(context.url.href.replace('127.0.0.1', host));
    await textOf(await sendRequest({ url, agent, signal: never }));
  }
  assert.equal(names, ['localhost', false]);
  agent.destroy();
});

test('ends in its time, whatever it waits for', async (context) => {
  const { url } = context;
  context.answer = ({ url: path }, response) => {
    if (path === '/head') response.writeHead(200).write('more will come');
  };
  const agent = createAgent('http:', { maxSockets: 1 });
  const ask = (path: string, timeoutMs: number) =>
    failure(
      withinTime({ timeoutMs }, async (signal) => textOf(await sendRequest({ url, path, agent, signal }))),
    );
  const holder = new AbortController();
  const held = failure(sendRequest({ url, path: '/held', agent, signal: holder.signal }));
  // the only connection is taken, so this one is never sent
  const waiting = await ask('/queued', 50);
  assert.is(waiting.kind, 'timeout');
  assert.match(waiting.message, /within 50 ms/);
  holder.abort(new Error('enough'));
  assert.is((await held).message, 'enough');
  assert.is((await ask('/none', 50)).kind, 'timeout');
  assert.is((await ask('/head', 50)).kind, 'timeout');
  agent.destroy();
});

test('ends with the reason of the caller, and asks nobody after that', async (context) => {
  const { url } = context;
  const stop = new AbortController();
  const reason = new Error('enough');
  context.answer = (_request, response) => {
    response.writeHead(200).write('x');
    setTimeout(() => stop.abort(reason), 20);
  };
  const ask = () =>
    withinTime({ timeoutMs: 60_000, signal: stop.signal }, async (signal) =>
      (await sendRequest({ url, agent: false, signal })).eachPiece(() => {}),
    );
  assert.is(await failure(ask()), reason);
  context.answer = () => assert.unreachable();
  assert.is(await failure(ask()), reason);
});

test('hands over pieces that may be zeroed, until one is refused', async (context) => {
  const { url } = context;
  context.answer = (_request, response) => void response.end('x'.repeat(200_000));
  let size = 0;
  const { eachPiece } = await sendRequest({ url, agent: false, signal: never });
  await eachPiece((piece) => {
    size += piece.length;
    piece.fill(0);
  });
  assert.is(size, 200_000);
  let calls = 0;
  const other = await sendRequest({ url, agent: false, signal: never });
  const refused = await failure(
    other.eachPiece(() => {
      calls += 1;
      throw new Error('too much');
    }),
  );
  assert.equal([refused.kind, refused.message, calls], ['no-answer', 'too much', 1]);
});

test('refuses a head that is too long', async (context) => {
  const { url } = context;
  context.answer = (_request, response) => void response.setHeader('x-long', 'x'.repeat(17_000)).end();
  const { code } = await failure(sendRequest({ url, agent: false, signal: never }));
  assert.is(code, 'HPE_HEADER_OVERFLOW');
});

test('gives up a connection that is not there in time', async (context) => {
  await context.stop();
  await serve(
    context,
    createSilentServer((socket) => socket.on('error', () => {}).resume()),
  );
  const url = new URL(context.url.href.replace('http:', 'https:'));
  const agent = createAgent('https:', {}, { connectTimeoutMs: 50 });
  const { kind, message } = await failure(sendRequest({ url, agent, signal: never }));
  assert.equal([kind, message], ['no-answer', 'no connection within 50 ms']);
  agent.destroy();
});

test('asks no host that its agent refuses', async ({ url }) => {
  const agent = createAgent('http:', {}, { lookup: (host, port) => new Error(`not ${host}:${port}`) });
  const { message } = await failure(sendRequest({ url, agent, signal: never }));
  assert.is(message, `not ${url.host}`);
});

test.run();
