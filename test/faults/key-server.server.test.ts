import { randomBytes } from 'node:crypto';
import { HeadObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { complete, MiB, putParts, sendParts } from '../attacks/support/stored.ts';
import { http } from '../support/http.ts';
import { type RawAnswer, rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { waitFor } from '../support/wait-for.ts';

export const idle = true;

const test = suite('a key server that fails');
let rig: Rig;
let proxy: RiggedProxy;
const kept = randomBytes(40_000);

test.before(async () => {
  rig = await startRig();
  proxy = await rig.proxy();
  await put('kept', kept);
});
test.after(() => rig?.stop());

const put = (Key: string, Body: Uint8Array) =>
  proxy.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key, Body }));

const rawPut = (key: string, body: Uint8Array, via = proxy) =>
  rawHttp(`${via.url}/${rig.bucket}/${key}`, { method: 'PUT', body });

const get = (key: string, via = proxy) => rawHttp(`${via.url}/${rig.bucket}/${key}`);

function assertUnavailable({ status, code, headers }: RawAnswer, label: string): void {
  assert.is(`${status} ${code}`, '503 ServiceUnavailable', label);
  assert.ok(headers['retry-after'], label);
}

/** What the store holds, helper objects and open uploads included. */
async function stored(): Promise<string[]> {
  const { Contents = [] } = await rig.store.client.send(new ListObjectsV2Command({ Bucket: rig.bucket }));
  return Contents.map(({ Key = '' }) => Key);
}

/** Every kind of request that needs a key is told to come again, and nothing of it is left behind. */
async function assertNothingPasses(label: string): Promise<void> {
  const before = await stored();
  const answers = await Promise.all([
    get('kept'),
    rawHttp(`${proxy.url}/${rig.bucket}/kept`, { headers: { range: 'bytes=0-9' } }),
    rawPut('small', randomBytes(1000)),
    rawPut('kept', randomBytes(1000)),
    rawPut('large', randomBytes(2 * MiB)),
    rawHttp(`${proxy.url}/${rig.bucket}/upload?uploads`, { method: 'POST' }),
  ]);
  for (const [index, answer] of answers.entries()) assertUnavailable(answer, `${label} ${index}`);
  assert.is((await copyKept()).code, 'ServiceUnavailable', label);
  assert.equal(await stored(), before, label);
}

/** As S3 does, a copy that takes long has its 200 first and its error after it. */
const copyKept = () =>
  rawHttp(`${proxy.url}/${rig.bucket}/copy`, {
    method: 'PUT',
    headers: { 'x-amz-copy-source': `/${rig.bucket}/kept` },
  });

/** The connection to the key server works again afterwards, whatever comes of the test. */
async function during(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } finally {
    await rig.toVault.heal();
  }
}

async function assertRecovered(label: string): Promise<void> {
  await waitFor(`recovery after ${label}`, async () => (await get('kept')).status === 200);
  assert.equal((await get('kept')).body, kept, label);
  await put('after', randomBytes(100));
}

test('sealed: everything is told to retry, nothing is written, and it recovers by itself', async () => {
  const begun = await sendParts(proxy.s3, rig.bucket, 'open-upload', [randomBytes(5 * MiB), randomBytes(10)]);
  await rig.bao.seal();
  try {
    await assertNothingPasses('sealed');
    const done = await complete(proxy.s3, rig.bucket, 'open-upload', begun).catch(
      (error: Error) => error.name,
    );
    assert.is(done, 'ServiceUnavailable');
  } finally {
    await rig.bao.unseal();
  }
  await assertRecovered('unsealing');
  await complete(proxy.s3, rig.bucket, 'open-upload', begun);
  assert.is((await get('open-upload')).body.length, 5 * MiB + 10);
});

test('away: everything is told to retry and it recovers by itself', async () => {
  await rig.toVault.refuse();
  await during(() => assertNothingPasses('away'));
  await assertRecovered('coming back');
});

test('hanging: requests end within the bound and it recovers by itself', async () => {
  rig.toVault.hang();
  await during(() => assertNothingPasses('hanging'));
  await assertRecovered('hanging');
});

test('slow: requests wait for it and succeed', async () => {
  rig.toVault.delay(700);
  await during(async () => {
    const [read] = await Promise.all([get('kept'), put('slowly', randomBytes(100_000))]);
    assert.equal(read.body, kept);
  });
});

test('cutting connections: requests succeed by another attempt', async () => {
  for (const manner of ['fin', 'reset'] as const) {
    rig.toVault.cutAfter(20, 'to-client', manner, { count: 2 });
    await during(async () => assert.equal((await get('kept')).body, kept, manner));
  }
});

test('answering nonsense: never plaintext, never a key of its own making', async () => {
  const nonsense = [
    '<html>',
    '{}',
    'null',
    '{"data":null}',
    '{"data":{"ciphertext":"plain","plaintext":"AAAA"}}',
    '{"data":{"ciphertext":"vault:v1:","plaintext":""}}',
  ];
  for (const body of nonsense) {
    rig.toVault.answer(200, body, { headers: { 'content-type': 'application/json' }, when: /transit/ });
    await during(async () => {
      const answers = await Promise.all([get('kept'), rawPut('nonsense', randomBytes(10))]);
      for (const { status } of answers) assert.ok(status >= 500, `${body}: ${status}`);
    });
  }
  const found = rig.store.client.send(new HeadObjectCommand({ Bucket: rig.bucket, Key: 'nonsense' }));
  assert.is(await found.catch((error: Error) => error.name), 'NotFound');
  await assertRecovered('nonsense');
});

test('away at the start: alive, not ready, ready when it comes', async () => {
  await rig.toVault.refuse();
  const late = await rig.proxy({ waitReady: false });
  assert.is((await http(`${late.health}/healthz`)).status, 200);
  assert.is((await http(`${late.health}/readyz`)).status, 503);
  assertUnavailable(await get('kept', late), 'before');
  await rig.toVault.heal();
  await waitFor('readiness', async () => (await http(`${late.health}/readyz`)).status === 200);
  assert.equal((await get('kept', late)).body, kept);
});

test('a key version that may no longer decrypt is refused, and the log says so', async () => {
  await putParts(proxy.s3, rig.bucket, 'old-version', [randomBytes(5 * MiB), randomBytes(10)]);
  await rig.bao.rotate();
  await put('new-version', kept);
  const limit = (min_decryption_version: number) =>
    rig.bao.request('POST', 'transit/keys/svc/config', { min_decryption_version });
  await limit(2);
  const old = await rawHttp(`${proxy.url}/${rig.bucket}/kept`);
  assert.is(`${old.status} ${old.code}`, '500 InternalError');
  assert.match(proxy.output(), 'min_decryption_version');
  assert.equal((await get('new-version')).body, kept);
  await limit(1);
  assert.equal((await get('kept')).body, kept);
  const head = await rig.store.client.send(new HeadObjectCommand({ Bucket: rig.bucket, Key: 'new-version' }));
  assert.is(head.Metadata?.['svc-key-version'], '2');
});

test.run();
