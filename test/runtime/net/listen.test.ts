import { createServer, type Server } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { listenAt } from '../../../src/runtime/net/listen.ts';

const test = suite('servers that listen');
const loopback = { host: '127.0.0.1', port: 0 };
const refused = ({ code }: NodeJS.ErrnoException) => new Error(`refused: ${code}`);

async function listening(use: (server: Server, address: string) => unknown): Promise<void> {
  const server = createServer();
  try {
    await use(server, await listenAt(server, loopback, refused));
  } finally {
    server.close();
  }
}

test('say where, with the port that they got', () =>
  listening((_server, address) => assert.match(address, /^127\.0\.0\.1:[1-9]\d*$/)));

test('fail as they are told to where the address is taken', () =>
  listening(async (_server, address) => {
    const port = Number(address.split(':')[1]);
    const error = await listenAt(createServer(), { ...loopback, port }, refused).catch((cause) => cause);
    assert.is(error.message, 'refused: EADDRINUSE');
  }));

test('go on after connections that could not be accepted, however many', () =>
  listening((server) => {
    for (const code of ['EMFILE', 'ENFILE', 'ENOBUFS'])
      server.emit('error', Object.assign(new Error(`accept ${code}`), { code }));
    assert.ok(server.listening);
  }));

test.run();
