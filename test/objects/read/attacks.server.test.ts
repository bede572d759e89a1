import { randomBytes } from 'node:crypto';
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CopyObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bench, bucket, MiB, startBench, type TestProxy } from './support/bench.ts';
import { get, head, type ProxyResponse, put, putParts } from './support/client.ts';

const test = suite('a store that cannot be trusted');
const overhead = 28;
let bench: Bench;
/** Everything here fits the verify buffer. */
let proxy: TestProxy;
/** Nothing but the smallest does. */
let tight: TestProxy;
let strict: TestProxy;

test.before(async () => {
  bench = await startBench();
  proxy = await bench.proxy({ inlineLimit: 0 });
  tight = await bench.proxy({ inlineLimit: 0, verifyBuffer: 64 * 1024, verifyBudget: MiB });
  strict = await bench.proxy({ inlineLimit: 0, verifyBuffer: 64 * 1024, verifyBudget: MiB, strict: true });
});
test.after(() => bench?.stop());

const pathOf = (key: string) => join(bench.store.dataDir, bucket, key);

/** Changes the stored bytes of an object in place; its metadata and ETag stay. */
function tamper(key: string, change: (stored: Buffer) => Buffer): void {
  writeFileSync(pathOf(key), change(readFileSync(pathOf(key))));
}

const flip = (at: number) => (stored: Buffer) => {
  const copy = Buffer.from(stored);
  copy.writeUInt8((copy.at(at) ?? 0) ^ 1, at < 0 ? copy.length + at : at);
  return copy;
};

/** An error, or, once the head had gone out, a body that the client can tell to be cut. */
function assertRefused(answer: ProxyResponse, label: string, { nothing = true } = {}): void {
  if (answer.status === 500) return assert.match(answer.body.toString(), '<Code>InternalError</Code>', label);
  assert.is(nothing, false, `${label}: ${answer.status} began`);
  assert.is(answer.complete, false, `${label}: a complete body arrived`);
  if (answer.status !== 0) assert.ok(answer.body.length < Number(answer.headers['content-length']), label);
}

const changes = (size: number): [string, (stored: Buffer) => Buffer][] => [
  ['nonce', flip(0)],
  ['first byte', flip(12)],
  ['middle', flip(12 + (size >> 1))],
  ['last byte', flip(-17)],
  ['tag', flip(-1)],
  ['cut', (stored) => stored.subarray(0, -1)],
  ['cut to the half', (stored) => stored.subarray(0, stored.length >> 1)],
  ['extended', (stored) => Buffer.concat([stored, Buffer.from([0])])],
  ['emptied', () => Buffer.alloc(0)],
];

for (const [kind, size] of [
  ['small', 5000],
  ['large', 400_000],
] as const)
  test(`a ${kind} object that was changed is refused`, async () => {
    const key = `changed-${kind}`;
    await put(proxy, key, randomBytes(size));
    const good = readFileSync(pathOf(key));
    for (const [label, change] of changes(size)) {
      writeFileSync(pathOf(key), change(good));
      for (const range of [undefined, 'bytes=0-9', 'bytes=100-', 'bytes=-5']) {
        const headers = range === undefined ? {} : { range };
        assertRefused(await get(proxy, key, headers), `${label} ${range}`);
        assertRefused(await get(tight, key, headers), `${label} ${range} tight`, { nothing: false });
        assertRefused(await get(strict, key, headers), `${label} ${range} strict`);
      }
    }
    assert.ok(proxy.refused.includes('authentication-failed') && proxy.refused.includes('wrong-size'));
  });

test('a multipart object whose part was changed is refused', async () => {
  const sizes = [5 * MiB, 5 * MiB, 200_000];
  await putParts(proxy, 'changed-parts', sizes);
  const good = readFileSync(pathOf('changed-parts'));
  const second = 5 * MiB + overhead;
  for (const [label, change] of [
    ['first part', flip(100)],
    ['nonce of the second', flip(second)],
    ['tag of the second', flip(second * 2 - 1)],
    ['last part', flip(-100)],
    ['cut', (stored: Buffer) => stored.subarray(0, -200_028)],
    ['parts swapped', (stored: Buffer) => swap(stored, second)],
    ['part repeated', (stored: Buffer) => repeat(stored, second)],
  ] as const) {
    writeFileSync(pathOf('changed-parts'), change(good));
    for (const via of [proxy, tight, strict])
      assertRefused(await get(via, 'changed-parts'), label, {
        nothing: label === 'first part' && via !== tight,
      });
  }
  writeFileSync(pathOf('changed-parts'), flip(second + 50)(good));
  const inSecond = { range: `bytes=${5 * MiB}-${5 * MiB + 9}` };
  for (const via of [proxy, tight, strict]) assertRefused(await get(via, 'changed-parts', inSecond), 'range');
  assert.is((await get(proxy, 'changed-parts', { range: 'bytes=0-9' })).status, 206);
});

const swap = (stored: Buffer, size: number) =>
  Buffer.concat([stored.subarray(size, 2 * size), stored.subarray(0, size), stored.subarray(2 * size)]);
const repeat = (stored: Buffer, size: number) =>
  Buffer.concat([stored.subarray(0, size), stored.subarray(0, size), stored.subarray(2 * size)]);

test('an object under another name is refused', async () => {
  for (const [from, to] of [
    ['swap-a', 'swap-b'],
    ['swap-parts-a', 'swap-parts-b'],
  ] as const) {
    if (from === 'swap-a') await put(proxy, from, randomBytes(1000));
    else await putParts(proxy, from, [5 * MiB, 1000]);
    await bench.store.client.send(
      new CopyObjectCommand({ Bucket: bucket, Key: to, CopySource: `${bucket}/${from}` }),
    );
    for (const via of [proxy, strict]) assertRefused(await get(via, to), to);
    assertRefused(await get(proxy, to, { range: 'bytes=0-1' }), `${to} range`);
  }
});

test('the bodies of two objects exchanged are refused', async () => {
  await put(proxy, 'body-a', randomBytes(2000));
  await put(proxy, 'body-b', randomBytes(2000));
  const [a, b] = [readFileSync(pathOf('body-a')), readFileSync(pathOf('body-b'))];
  writeFileSync(pathOf('body-a'), b);
  writeFileSync(pathOf('body-b'), a);
  assertRefused(await get(proxy, 'body-a'), 'a');
  assertRefused(await get(proxy, 'body-b'), 'b');
});

/** Stores the object's ciphertext anew, with other metadata. */
async function withMetadata(key: string, edit: (metadata: Record<string, string>) => void): Promise<void> {
  const at = { Bucket: bucket, Key: key };
  const { Metadata = {} } = await bench.store.client.send(new HeadObjectCommand(at));
  const metadata = { ...Metadata };
  edit(metadata);
  const Body = readFileSync(pathOf(key));
  await bench.store.client.send(new PutObjectCommand({ ...at, Body, Metadata: metadata }));
}

test('metadata that was stripped in part or edited is refused', async () => {
  const names = ['encrypted', 'wrapped-dek', 'algorithm', 'key-name', 'key-version'];
  for (const name of names) {
    await put(proxy, 'stripped', randomBytes(500));
    await withMetadata('stripped', (metadata) => delete metadata[`svc-${name}`]);
    for (const answer of [await get(proxy, 'stripped'), await get(proxy, 'stripped', { range: 'bytes=0-1' })])
      assertRefused(answer, name);
    assert.is((await head(proxy, 'stripped')).status, 500);
  }
  const edits: Record<string, string> = {
    'svc-encrypted': 'false',
    'svc-algorithm': 'AES-128-GCM',
    'svc-key-name': 'other',
    'svc-key-version': '7',
    'svc-wrapped-dek': 'vault:v1:AAAA',
    'svc-binding': 'bucket-key',
  };
  for (const [name, value] of Object.entries(edits)) {
    await put(proxy, 'edited', randomBytes(500));
    await withMetadata('edited', (metadata) => {
      metadata[name] = value;
    });
    assertRefused(await get(proxy, 'edited'), name);
  }
});

test('a binding that was taken off does not unbind', async () => {
  await put(proxy, 'unbound', randomBytes(500));
  await withMetadata('unbound', (metadata) => delete metadata['svc-binding']);
  assertRefused(await get(proxy, 'unbound'), 'without binding');
});

test('fully stripped metadata is refused where unencrypted reads are denied', async () => {
  const denying = await bench.proxy({ unencryptedReads: 'deny' });
  await put(proxy, 'bare', randomBytes(500));
  await withMetadata('bare', (metadata) => {
    for (const name of Object.keys(metadata)) delete metadata[name];
  });
  assert.is((await get(denying, 'bare')).status, 403);
});

test('part lists that were edited, exchanged or deleted are refused', async () => {
  await putParts(proxy, 'list-a', [5 * MiB, 5 * MiB, 10]);
  await putParts(proxy, 'list-b', [5 * MiB, 5 * MiB, 10]);
  const [a, b] = [await manifestOf('list-a'), await manifestOf('list-b')];
  const good = readFileSync(pathOf(a), 'utf8');
  const edits: [string, (text: string) => string][] = [
    [
      'sizes exchanged',
      (text) => text.replace('"size":5242880', '"size":5242870').replace('"size":10}', '"size":20}'),
    ],
    ['a part dropped', (text) => text.replace(/\{"n":3[^}]*\}/, '').replace(',]', ']')],
    ['numbers exchanged', (text) => text.replace('"n":1,', '"n":0,')],
    ['mac zeroed', (text) => text.replace(/"mac":"[^"]*"/, `"mac":"${Buffer.alloc(32).toString('base64')}"`)],
    ['not JSON', () => '{'],
    ["another object's", () => readFileSync(pathOf(b), 'utf8')],
  ];
  for (const [label, edit] of edits) {
    writeFileSync(pathOf(a), edit(good));
    const fresh = await bench.proxy({ inlineLimit: 0 });
    assert.is.not(edit(good), good, label);
    assertRefused(await get(fresh, 'list-a'), label);
    assertRefused(await get(fresh, 'list-a', { range: 'bytes=0-9' }), `${label} range`);
  }
  renameSync(pathOf(a), `${pathOf(a)}.gone`);
  const fresh = await bench.proxy({ inlineLimit: 0 });
  assertRefused(await get(fresh, 'list-a'), 'gone');
  assert.equal(fresh.refused, ['manifest-missing']);
  writeFileSync(pathOf(a), good);
});

async function manifestOf(key: string): Promise<string> {
  const at = { Bucket: bucket, Key: key };
  const { Metadata } = await bench.store.client.send(new HeadObjectCommand(at));
  const { manifest } = JSON.parse(Metadata?.['svc-wrapped-dek'] ?? '');
  const { Contents = [] } = await bench.store.client.send(
    new ListObjectsV2Command({ Bucket: bucket, Prefix: '.svc/manifests/' }),
  );
  return Contents.map(({ Key }) => Key ?? '').find((name) => name.endsWith(manifest)) ?? '';
}

test('keys of another transit key, and unbound ones under --require-bound, are refused', async () => {
  const unbinding = await bench.proxy({ binding: 'none' });
  const requiring = await bench.proxy({ requireBound: true });
  const body = randomBytes(100);
  await put(unbinding, 'loose', body);
  assert.equal((await get(proxy, 'loose')).body, body);
  assertRefused(await get(requiring, 'loose'), 'unbound');
  assert.equal(requiring.refused, ['unbound']);
});

test('an older version put back is read: only the store could tell', async () => {
  const older = randomBytes(100);
  await put(proxy, 'rollback', older);
  copyFileSync(pathOf('rollback'), `${pathOf('rollback')}.old`);
  const { Metadata } = await bench.store.client.send(
    new HeadObjectCommand({ Bucket: bucket, Key: 'rollback' }),
  );
  await put(proxy, 'rollback', randomBytes(100));
  const Body = readFileSync(`${pathOf('rollback')}.old`);
  await bench.store.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'rollback', Body, Metadata }));
  assert.equal((await get(proxy, 'rollback')).body, older);
});

test('a body that was tampered with while it lies in the spool stays out', async () => {
  await put(proxy, 'spooled', randomBytes(2 * MiB));
  tamper('spooled', flip(MiB));
  const answers = await Promise.all(
    [0, 100_000, 1_500_000].map((start) => get(proxy, 'spooled', { range: `bytes=${start}-${start + 9}` })),
  );
  for (const answer of answers) assertRefused(answer, 'spool');
});

test.run();
