import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MiB } from '../attacks/support/stored.ts';
import { rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary.ts';
import { waitFor } from '../support/wait-for.ts';
import { openFiles } from './support/files.ts';
import { findSecrets } from './support/search.ts';

const test = suite('what lies on disk while the proxy works');
const marker = { name: 'plaintext', bytes: randomBytes(24) };
const body = Buffer.alloc(8 * MiB, marker.bytes);
let rig: Rig;
let folder: TemporaryFolder;
let proxy: RiggedProxy;

test.before(async () => {
  rig = await startRig();
  folder = temporaryFolder('spool');
  const args = [
    '--strict',
    '--verify-buffer',
    '64KiB',
    '--verify-budget',
    '1MiB',
    '--spool-dir',
    folder.path,
  ];
  proxy = await rig.proxy({ args });
  await proxy.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key: 'kept', Body: body }));
});
test.after(async () => {
  await rig?.stop();
  await folder?.remove();
});

const spooled = () => openFiles(proxy.pid, /\.svc-spool-/).filter(({ bytes }) => bytes.length > MiB);

async function assertUnreadable(): Promise<void> {
  const files = await waitFor('a file of the spool', () => spooled().length > 0 && spooled());
  for (const { mode, links } of files) {
    assert.is(mode, 0o600);
    assert.is(links, 0, 'it has no name');
  }
  assert.equal(readdirSync(folder.path), []);
  assert.equal(findSecrets([marker], files), []);
}

async function open(request: string): Promise<Socket> {
  const { hostname, port, host } = new URL(proxy.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`${request}\r\nHost: ${host}\r\n`);
  return socket;
}

test('a read under --strict: ciphertext without a name, for nobody else', async () => {
  const socket = await open(`GET /${rig.bucket}/kept HTTP/1.1`);
  socket.write('\r\n');
  const [first] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  assert.ok(first.length > 0);
  await assertUnreadable();
  socket.destroy();
  await waitFor('its end', () => spooled().length === 0);
});

test('ranges that share a body: the same', async () => {
  const headers = { range: 'bytes=4000000-4000099' };
  const { status, body: part } = await rawHttp(`${proxy.url}/${rig.bucket}/kept`, { headers });
  assert.is(status, 206);
  assert.equal(part, body.subarray(4_000_000, 4_000_100));
  await assertUnreadable();
});

test('an upload of unknown length: the same', async () => {
  const socket = await open(`PUT /${rig.bucket}/new HTTP/1.1`);
  socket.write('Transfer-Encoding: chunked\r\n\r\n');
  const before = spooled().length;
  socket.write(`${(4 * MiB).toString(16)}\r\n`);
  socket.write(body.subarray(0, 4 * MiB));
  await waitFor('a file of it', () => spooled().length > before);
  await assertUnreadable();
  socket.destroy();
  await waitFor('its end', () => spooled().length === before);
});

test.run();
