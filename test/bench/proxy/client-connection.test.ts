import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ClientConnection } from '../../../bench/proxy/client-connection.ts';

const test = suite<{ server: Server; open: () => Promise<ClientConnection>; answer: string[] }>(
  'connection of the load process',
);
const head = Buffer.from('GET / HTTP/1.1\r\n\r\n');

/** Answers each head, as soon as it comes, with pieces that arrive one by one. */
test.before.each(async (context) => {
  context.answer = [];
  const serve = (socket: Socket) => {
    const begins = (bytes: Buffer) => bytes.includes('GET /');
    socket.on('data', (bytes) => begins(bytes) && void send(socket, context.answer));
    socket.on('error', () => undefined);
  };
  context.server = createServer({ noDelay: true }, serve).listen(0, '127.0.0.1');
  await once(context.server, 'listening');
  const { port } = context.server.address() as AddressInfo;
  context.open = () => ClientConnection.open(new URL(`http://127.0.0.1:${port}`), undefined);
});

test.after.each(({ server }) => void server.close());

async function send(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('counts a body wherever head and body are split, and takes another request', async (context) => {
  const connection = await context.open();
  context.answer = ['HTTP/1.1 200 OK\r\nContent-Le', 'ngth: 5\r\n', '\r\nsv', 'c s'];
  const expected = { status: 200, bytes: 5, first: 's'.charCodeAt(0), text: '' };
  assert.equal(await connection.exchange(head), expected);
  assert.equal(await connection.exchange(head), expected);
  connection.close();
});

test('takes chunks, an interim answer and no body', async (context) => {
  const connection = await context.open();
  context.answer = [
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nsvc\r',
    '\n0\r\n\r\n',
  ];
  assert.is((await connection.exchange(head)).bytes, 3);
  context.answer = ['HTTP/1.1 204 No Content\r\n\r\n'];
  assert.is((await connection.exchange(head)).status, 204);
  connection.close();
});

test('keeps what an error says, and is of no use after one that came before the body was sent', async (context) => {
  const connection = await context.open();
  context.answer = ['HTTP/1.1 503 Slow Down\r\ncontent-length: 4\r\n\r\nbusy'];
  const refused = await connection.exchange(head);
  assert.is(refused.text, 'busy');
  assert.ok(connection.usable);
  await connection.exchange(head, { piece: Buffer.alloc(1024 * 1024), size: 64 * 1024 * 1024 });
  assert.not(connection.usable);
});

test('fails when the connection ends in a body, and when a body is longer than announced', async (context) => {
  const cut = await context.open();
  context.answer = ['HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nsvc'];
  const pending = cut.exchange(head);
  setTimeout(() => cut.close(), 20);
  await pending.then(
    () => assert.unreachable(),
    (error) => assert.match(error.message, 'closed'),
  );
  const long = await context.open();
  context.answer = ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nsvc'];
  await long.exchange(head).then(
    () => assert.unreachable(),
    (error) => assert.match(error.message, 'longer'),
  );
});

test.run();
