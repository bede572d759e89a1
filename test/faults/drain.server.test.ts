import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MiB } from '../attacks/support/stored.ts';
import { rawState } from '../support/raw-state.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { waitFor } from '../support/wait-for.ts';

const size = 24 * MiB;
const kept = randomBytes(size);
const processes = { 'one process': [], 'two workers': ['--workers', '2'] } as const;

const test = suite('SIGTERM');
let rig: Rig;

test.before(async () => {
  rig = await startRig();
  const proxy = await rig.proxy();
  await proxy.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key: 'kept', Body: kept }));
});
test.after(() => rig?.stop());

/** A PUT of which half is sent. */
function halfUpload({ url }: RiggedProxy, key: string) {
  const put = request(`${url}/${rig.bucket}/${key}`, {
    method: 'PUT',
    agent: false,
    headers: { 'content-length': size },
  });
  const answer = new Promise<number>((resolve) => {
    put.once('response', (incoming) => resolve(incoming.resume().statusCode ?? 0));
    put.once('error', () => resolve(0));
  });
  const sent = new Promise<void>((resolve) => put.write(kept.subarray(0, size / 2), () => resolve()));
  return { answer, sent, finish: () => put.end(kept.subarray(size / 2)) };
}

/** A GET whose first bytes have come and which is read no further. */
async function halfDownload({ url }: RiggedProxy) {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`GET /${rig.bucket}/kept HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  const [first] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  return { socket, first };
}

async function rest({ socket, first }: { socket: Socket; first: Buffer }): Promise<Buffer> {
  const chunks = [first];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
  await once(socket, 'close');
  const received = Buffer.concat(chunks);
  return received.subarray(received.indexOf('\r\n\r\n') + 4);
}

const takesNoMore = ({ url }: RiggedProxy) =>
  waitFor('the address to be given up', () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
    return promise.finally(() => socket.destroy());
  });

for (const [name, args] of Object.entries(processes)) {
  test(`an upload and a download in flight are finished (${name})`, async () => {
    const proxy = await rig.proxy({ args });
    const key = `drained-${args.length}`;
    const upload = halfUpload(proxy, key);
    const download = await halfDownload(proxy);
    await upload.sent;
    const exit = proxy.kill('SIGTERM');
    await takesNoMore(proxy);
    const read = rest(download);
    upload.finish();
    assert.is(await upload.answer, 200);
    assert.ok((await read).equals(kept), 'the download');
    assert.is((await exit).code, 0);
    const stored = (await rawState(rig)).find((line) => line.startsWith(`${key} `));
    assert.match(stored ?? '', ` ${size + 28}`);
  });

  test(`what takes longer than the bound is cut, and nothing of it is stored (${name})`, async () => {
    const proxy = await rig.proxy({ args, env: { SVC_SHUTDOWN_GRACE: '1s' } });
    const before = await rawState(rig);
    const [fresh, over] = [halfUpload(proxy, 'stalled'), halfUpload(proxy, 'kept')];
    const download = await halfDownload(proxy);
    await Promise.all([fresh.sent, over.sent]);
    const { code, signal } = await proxy.kill('SIGTERM');
    assert.is(
      `${code} ${signal}`,
      '1 null',
      'ended by itself, with the status of a drain that took too long',
    );
    assert.equal(await Promise.all([fresh.answer, over.answer]), [0, 0]);
    assert.ok((await rest(download)).length < size, 'the download looks cut');
    assert.equal(await rawState(rig), before);
    const other = await rig.proxy();
    const { GetObjectCommand } = await import('@aws-sdk/client-s3');
    const { Body } = await other.s3.send(new GetObjectCommand({ Bucket: rig.bucket, Key: 'kept' }));
    assert.ok(kept.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0)));
  });
}

test.run();
