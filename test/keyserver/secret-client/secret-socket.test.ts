import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { waitFor } from '../../support/wait-for.ts';
import { rejection, vaultFailure } from '../rejection.ts';
import { type ClientChanges, clientOf, patient, readTexts, type TestClient } from './client-fixture.ts';
import { type RawServer, rawServer, writeSplit } from './raw-server.ts';

interface Context {
  server: RawServer;
  clients: TestClient[];
}

const test = suite<Context>('what the wire may do to the client for secrets');

test.before.each(async (context) => {
  context.server = await rawServer(() => undefined);
  context.clients = [];
});

test.after.each(async ({ server, clients }) => {
  for (const client of clients) {
    client.close();
    await waitFor('all memory given back', () => client.memory.held() === 0, { timeoutMs: 5_000 });
    assert.ok(client.memory.everything().every((byte) => byte === 0));
  }
  await server.stop();
});

function use({ server, clients }: Context, changes: ClientChanges = {}): TestClient {
  const client = clientOf(server.url, changes);
  clients.push(client);
  return client;
}

const mount = '{"data":{"path":"secret/","type":"kv","options":{"version":"2"}}}';
const secret = '{"data":{"data":{"password":"s3cret \\u00e9"},"metadata":{"version":1}}}';
const found = { password: 's3cret é' };

const plain = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked = (body: string): string =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(body.slice(0, 9))}${chunk(body.slice(9))}0\r\nA: b\r\n\r\n`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

const bodyFor = (request: string): string => (request.includes('/ui/mounts/') ? mount : secret);
const answerAll = (server: RawServer, answer: (body: string) => string) => {
  server.onRequest = (socket, request) => void socket.write(answer(bodyFor(request)));
};

test('an answer in one piece, in chunks, in single bytes, behind interim answers', async (context) => {
  const client = use(context);
  for (const answer of [plain, chunked, (body: string) => `HTTP/1.1 100 Continue\r\n\r\n${plain(body)}`]) {
    answerAll(context.server, answer);
    assert.equal(await readTexts(client, 'secret/app'), found);
    context.server.onRequest = (socket, request) => {
      const bytes = [...Buffer.from(answer(bodyFor(request)))].map((byte) => Uint8Array.of(byte));
      void writeSplit(socket, bytes);
    };
    assert.equal(await readTexts(client, 'secret/app'), found);
  }
  assert.is(context.server.sockets.length, 1);
});

test('an answer cut at any byte is no answer', async (context) => {
  for (const answer of [plain, chunked]) {
    const whole = answer(secret);
    for (let length = 0; length < whole.length; length++) {
      const client = use(context, { requestTimeoutMs: 60_000 });
      context.server.onRequest = (socket, request) => {
        if (request.includes('/ui/mounts/')) socket.write(plain(mount));
        else socket.end(whole.slice(0, length));
      };
      const error = await vaultFailure(client.read('secret/app', patient()), 'unavailable');
      assert.not.match(`${error.stack}${(error.cause as Error | undefined)?.stack}`, /s3cret|s\.token/);
      client.close();
    }
  }
});

test('a body that ends with the connection must be whole JSON', async (context) => {
  const client = use(context);
  const until = (text: string) => `HTTP/1.1 200 OK\r\n\r\n${text}`;
  context.server.onRequest = (socket, request) => void socket.end(until(bodyFor(request)));
  assert.equal(await readTexts(client, 'secret/app'), found);
  context.server.onRequest = (socket) => void socket.end(until(secret.slice(0, -1)));
  await vaultFailure(client.read('secret/app', patient()), 'unavailable');
});

test('a connection that the server closes after its answer is not used again', async (context) => {
  const client = use(context);
  const closing = (body: string) => plain(body).replace('\r\n', '\r\nConnection: close\r\n');
  answerAll(context.server, closing);
  assert.equal(await readTexts(client, 'secret/app'), found);
  assert.is(context.server.sockets.length, 2);
});

test('bytes behind an answer end the connection', async (context) => {
  const client = use(context);
  answerAll(context.server, (body) => `${plain(body)}HTTP/1.1 200 OK\r\n`);
  assert.equal(await readTexts(client, 'secret/app'), found);
  assert.is(context.server.sockets.length, 2);
});

test('a server that speaks unasked loses the connection', async (context) => {
  const client = use(context);
  answerAll(context.server, plain);
  await readTexts(client, 'secret/app');
  const [socket] = context.server.sockets;
  socket?.write(plain(secret));
  await waitFor('the connection closed', () => socket?.destroyed);
  assert.equal(await readTexts(client, 'secret/app'), found);
});

test('refused, reset, silent, endless and foreign servers are unavailable', async (context) => {
  const cases: [RegExp, RawServer['onRequest']][] = [
    [/it ended the connection|ECONNRESET|ended before/, (socket) => void socket.resetAndDestroy()],
    [/no complete answer within 150 ms/, () => undefined],
    [/no complete answer within 150 ms/, (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-')],
    [
      /head of the answer is larger/,
      (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(10_000)}`),
    ],
    [/no HTTP\/1\.1 status line/, (socket) => void socket.write('SSH-2.0-x\r\n\r\n')],
    [
      /larger than 8388608 bytes/,
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 8388609\r\n\r\n'),
    ],
    [/changes the protocol/, (socket) => void socket.write('HTTP/1.1 101 x\r\n\r\n')],
  ];
  for (const [reason, onRequest] of cases) {
    context.server.onRequest = onRequest;
    const client = use(context, { requestTimeoutMs: 150 });
    assert.match((await vaultFailure(client.read('secret/app', patient()), 'unavailable')).message, reason);
  }
  await context.server.stop();
  const error = await vaultFailure(use(context).read('secret/app', patient()), 'unavailable');
  assert.match(error.message, /^No answer from 127\.0\.0\.1:\d+: ECONNREFUSED$/);
  assert.match(error.nextStep, /VAULT_ADDR/);
});

test('many who wait for a server that is away all hear of it', async (context) => {
  await context.server.stop();
  const client = use(context);
  const reads = Array.from({ length: 9 }, (_, index) => client.read(`m${index}/app`, patient()));
  await Promise.all(reads.map((read) => vaultFailure(read, 'unavailable')));
});

test('a failed exchange does not fail those that wait behind it', async (context) => {
  const client = use(context, { requestTimeoutMs: 2_000 });
  let hung = 0;
  context.server.onRequest = (socket, request) => {
    if (hung < 4) hung++;
    else socket.write(plain(bodyFor(request)));
  };
  const reads = Array.from({ length: 6 }, (_, index) =>
    readTexts(client, index < 4 ? `m${index}/app` : `secret/${index}`),
  );
  const outcomes = await Promise.allSettled(reads);
  assert.equal(
    outcomes.map(({ status }) => status),
    [...Array(4).fill('rejected'), 'fulfilled', 'fulfilled'],
  );
});

test('a signal ends what is under way with its reason, and nothing else', async (context) => {
  const client = use(context);
  const reason = new Error('enough');
  const aborted = AbortSignal.abort(reason);
  assert.is(await rejection(client.read('secret/app', aborted)), reason);
  assert.is(context.server.sockets.length, 0);
  const controller = new AbortController();
  const renewed = Promise.withResolvers<string>();
  context.server.onRequest = (socket, request) => {
    if (request.includes('renew-self')) renewed.promise.then((answer) => socket.write(answer));
    else controller.abort(reason);
  };
  const lasting = client.renew(patient());
  const read = client.read('secret/app', controller.signal);
  assert.is(await rejection(read), reason);
  renewed.resolve(plain('{"auth":{"client_token":"s.n","lease_duration":5,"renewable":true}}'));
  assert.is((await lasting).leaseSeconds, 5);
});

test('a document of a mebibyte', async (context) => {
  const client = use(context);
  const value = 'pässword\\n'.repeat(110_000);
  const body = `{"data":{"data":{"big":"${value}","small":"x"},"metadata":{"version":1}}}`;
  for (const frame of [plain, chunked]) {
    const framed = Buffer.from(frame(Buffer.from(body).toString('latin1')), 'latin1');
    context.server.onRequest = (socket, request) =>
      void socket.write(request.includes('/ui/mounts/') ? plain(mount) : framed);
    const { big, small } = await readTexts(client, 'secret/app');
    assert.ok(big === value.replaceAll('\\n', '\n'));
    assert.is(small, 'x');
  }
});

test.run();
