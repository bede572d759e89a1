import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { complete, MiB, sendParts, type UploadedParts } from '../attacks/support/stored.ts';
import { freePort } from '../support/ports.ts';
import { rawHttp } from '../support/raw-http.ts';
import { rawState } from '../support/raw-state.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { waitFor } from '../support/wait-for.ts';

const test = suite('a proxy that is killed');
let rig: Rig;
let proxy: RiggedProxy;
let other: RiggedProxy;
const kept = randomBytes(3 * MiB);

test.before(async () => {
  rig = await startRig();
  [proxy, other] = await Promise.all([rig.proxy(), rig.proxy()]);
  await proxy.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key: 'kept', Body: kept }));
});
test.after(() => rig?.stop());

const get = (key: string, via = proxy) => rawHttp(`${via.url}/${rig.bucket}/${key}`);

async function killAndRestart(): Promise<void> {
  await proxy.kill('SIGKILL');
  await proxy.restart();
  await proxy.reconnect();
}

/** Begins a PUT of 8 MiB and sends half of it. */
function halfPut(
  via: RiggedProxy,
  path: string,
): { readonly sent: Promise<void>; readonly ended: Promise<void> } {
  const put = request(`${via.url}/${rig.bucket}/${path}`, {
    method: 'PUT',
    agent: false,
    headers: { 'content-length': 8 * MiB },
  });
  const ended = new Promise<void>((resolve) => put.once('error', () => resolve()).once('close', resolve));
  const sent = new Promise<void>((resolve) => put.write(randomBytes(4 * MiB), () => resolve()));
  return { sent: Promise.race([sent, ended]), ended };
}

/** Until then the store may still be busy with what was cut. */
const asBefore = async (before: readonly string[]) => {
  await waitFor('the store as it was', async () => `${await rawState(rig)}` === `${before}`).catch(
    () => undefined,
  );
  assert.equal(await rawState(rig), before);
};

test('in the middle of a PUT: nothing new, nothing replaced', async () => {
  const before = await rawState(rig);
  const puts = ['new', 'kept'].map((key) => halfPut(proxy, key));
  await Promise.all(puts.map(({ sent }) => sent));
  await killAndRestart();
  await Promise.all(puts.map(({ ended }) => ended));
  await asBefore(before);
  assert.ok((await get('kept')).body.equals(kept));
});

test('in the middle of a part: the restarted one takes the part again and completes', async () => {
  const parts = [randomBytes(5 * MiB), randomBytes(5 * MiB), randomBytes(100)] as const;
  const begun = await sendParts(proxy.s3, rig.bucket, 'multipart', parts.slice(0, 1));
  const before = await rawState(rig);
  const { UploadId } = begun;
  const put = halfPut(proxy, `multipart?partNumber=2&uploadId=${UploadId}`);
  await put.sent;
  await killAndRestart();
  await put.ended;
  await asBefore(before);
  for (const PartNumber of [2, 3]) {
    const Body = parts[PartNumber - 1] as Buffer;
    const part = new UploadPartCommand({ Bucket: rig.bucket, Key: 'multipart', UploadId, PartNumber, Body });
    begun.Parts.push({ PartNumber, ETag: (await proxy.s3.send(part)).ETag ?? '' });
  }
  await complete(proxy.s3, rig.bucket, 'multipart', begun);
  assert.ok((await get('multipart')).body.equals(Buffer.concat(parts)));
});

const listOf = ({ Parts }: UploadedParts) =>
  Buffer.from(
    `<CompleteMultipartUpload>${Parts.map(
      ({ PartNumber, ETag }) => `<Part><PartNumber>${PartNumber}</PartNumber><ETag>${ETag}</ETag></Part>`,
    ).join('')}</CompleteMultipartUpload>`,
  );

const postComplete = (via: RiggedProxy, key: string, begun: UploadedParts) =>
  rawHttp(`${via.url}/${rig.bucket}/${key}?uploadId=${begun.UploadId}`, {
    method: 'POST',
    body: listOf(begun),
  });

test('at any moment of a Complete: a second Complete brings it to its end', async () => {
  const parts = [randomBytes(5 * MiB), randomBytes(10)];
  for (const [index, moment] of [0, 4, 8, 16, 32].entries()) {
    const key = `completed-${index}`;
    const begun = await sendParts(proxy.s3, rig.bucket, key, parts);
    const first = postComplete(proxy, key, begun);
    await sleep(moment);
    await killAndRestart();
    await first;
    const again = await postComplete(proxy, key, begun);
    assert.is(again.status, 200, `${moment} ms: ${again.body}`);
    assert.is(again.code, undefined, `${moment} ms`);
    for (const via of [proxy, other])
      assert.ok((await get(key, via)).body.equals(Buffer.concat(parts)), `${moment} ms`);
  }
});

test('two proxies take parts of one upload and complete it at the same time', async () => {
  const parts = [randomBytes(5 * MiB), randomBytes(5 * MiB), randomBytes(10)];
  const begun = await sendParts(proxy.s3, rig.bucket, 'shared', parts.slice(0, 1));
  for (const [PartNumber, via] of [
    [2, other],
    [3, proxy],
  ] as const) {
    const { UploadId } = begun;
    const Body = parts[PartNumber - 1] as Buffer;
    const part = new UploadPartCommand({ Bucket: rig.bucket, Key: 'shared', UploadId, PartNumber, Body });
    begun.Parts.push({ PartNumber, ETag: (await via.s3.send(part)).ETag ?? '' });
  }
  const answers = await Promise.all(
    [proxy, other, proxy, other].map((via) => postComplete(via, 'shared', begun)),
  );
  assert.ok(
    answers.some(({ status, code }) => status === 200 && code === undefined),
    answers.map(({ body }) => body).join('\n'),
  );
  const again = await postComplete(other, 'shared', begun);
  assert.is(`${again.status} ${again.code}`, '200 undefined', String(again.body));
  for (const via of [proxy, other]) assert.ok((await get('shared', via)).body.equals(Buffer.concat(parts)));
});

test('all workers in the middle of uploads: nothing half-written, others take their place', async () => {
  const env = { SVC_PROXY_LISTEN: `127.0.0.1:${await freePort()}` };
  const primary = await rig.proxy({ args: ['--workers', '2'], env });
  const workers = () =>
    readFileSync(`/proc/${primary.pid}/task/${primary.pid}/children`, 'utf8').trim().split(' ').map(Number);
  const before = await rawState(rig);
  const puts = Array.from({ length: 6 }, (_, index) =>
    halfPut(primary, index % 2 ? 'kept' : `worker-${index}`),
  );
  await Promise.all(puts.map(({ sent }) => sent));
  const victims = workers();
  for (const pid of victims) process.kill(pid, 'SIGKILL');
  await Promise.all(puts.map(({ ended }) => ended));
  await waitFor(
    'other workers',
    () => workers().length === 2 && !workers().some((pid) => victims.includes(pid)),
  );
  await asBefore(before);
  const answer = await waitFor('service', async () => {
    const { status, body } = await get('kept', primary);
    return status === 200 && body;
  });
  assert.ok(answer.equals(kept));
});

test.run();
