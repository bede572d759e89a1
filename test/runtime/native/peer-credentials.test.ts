import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, type Server, Socket } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NativeError } from '../../../src/runtime/native/libc.ts';
import { descriptorOf, isPeerThere, peerCredentials } from '../../../src/runtime/native/sockets.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';

const test = suite('peer credentials');
let folder: TemporaryFolder;
let server: Server;
let path: string;

test.before.each(async () => {
  folder = temporaryFolder('peer');
  path = join(folder.path, 'socket');
  server = createServer().listen(path);
  await once(server, 'listening');
});
test.after.each(async () => {
  server.close();
  await folder.remove();
});

/** Connects and hands the connection down to another process; ends when its input does. */
const connector = `
  const socket = require('node:net').connect(process.argv[1], () => {
    const stdio = ['ignore', 'ignore', 'ignore', socket._handle.fd];
    const child = require('node:child_process').spawn('sleep', ['60'], { stdio, detached: true });
    console.log(process.pid + ' ' + child.pid);
  });
  process.stdin.resume().on('end', () => process.exit());`;

async function accepted(): Promise<Socket> {
  const [socket] = (await once(server, 'connection')) as [Socket];
  return socket.on('error', () => {});
}

const fd = (socket: Socket) => descriptorOf(socket) as number;

test('says who connected', async () => {
  const accepting = accepted();
  const client = new Socket().connect(path);
  const socket = await accepting;
  assert.equal(peerCredentials(fd(socket)), {
    pid: process.pid,
    uid: process.getuid?.(),
    gid: process.getgid?.(),
  });
  assert.is.not(isPeerThere(fd(socket)), false);
  client.destroy();
  socket.destroy();
  assert.is(descriptorOf(socket), undefined);
});

test('asking keeps no descriptor', async () => {
  const accepting = accepted();
  const client = new Socket().connect(path);
  const socket = await accepting;
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  for (let time = 0; time < 100; time++) isPeerThere(fd(socket));
  assert.is(open(), before);
  client.destroy();
  socket.destroy();
});

test('knows that who connected is gone, though the connection stands', async () => {
  const accepting = accepted();
  const child = spawn(process.execPath, ['-e', connector, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const [pid, heir] = line.trim().split(' ').map(Number);
  const socket = await accepting;
  try {
    assert.is(peerCredentials(fd(socket)).pid, pid);
    const before = isPeerThere(fd(socket));
    child.stdin.end();
    await once(child, 'exit');
    assert.is(peerCredentials(fd(socket)).pid, pid);
    if (before === undefined) return;
    assert.is(before, true);
    assert.is(isPeerThere(fd(socket)), false);
  } finally {
    process.kill(-(heir as number), 'SIGKILL');
    socket.destroy();
  }
});

test('what is no socket has no peer', () => {
  assert.throws(
    () => peerCredentials(0x7fff),
    (error: unknown) => error instanceof NativeError && error.errnoName === 'EBADF',
  );
});

test.run();
