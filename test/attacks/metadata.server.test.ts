import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CopyObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { assertRefused } from './support/refused.ts';
import {
  editFile,
  editMetadata,
  fileOf,
  flip,
  type Metadata,
  MiB,
  metadataOf,
  plant,
  putParts,
} from './support/stored.ts';

const test = suite('stored metadata that was changed');
let rig: Rig;
let proxy: RiggedProxy;
let denying: RiggedProxy;
let requiring: RiggedProxy;
let unbound: RiggedProxy;
let bucketBound: RiggedProxy;

test.before(async () => {
  rig = await startRig({ versioning: true });
  await rig.store.createBucket('versioned', { versioning: true });
  await rig.store.createBucket('second');
  [proxy, denying, requiring] = await Promise.all([
    rig.proxy(),
    rig.proxy({ args: ['--unencrypted-reads', 'deny'] }),
    rig.proxy({ args: ['--require-bound'] }),
  ]);
  unbound = await rig.proxy({ args: ['--bind', 'none'] });
  bucketBound = await rig.proxy({ args: ['--bind', 'bucket-key'] });
});
test.after(() => rig?.stop());

const put = (via: RiggedProxy, key: string, body: Uint8Array, bucket = rig.bucket) =>
  via.s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body }));

const get = (via: RiggedProxy, key: string, headers = {}, bucket = rig.bucket) =>
  rawHttp(`${via.url}/${bucket}/${key}`, { headers });

const head = (via: RiggedProxy, key: string) =>
  rawHttp(`${via.url}/${rig.bucket}/${key}`, { method: 'HEAD' });

/** Body and range are refused, and a copy of it leaves nothing. */
async function assertUnreadable(key: string, label: string): Promise<void> {
  assertRefused(await get(proxy, key), label);
  assertRefused(await get(proxy, key, { range: 'bytes=0-3' }), `${label} range`);
  await assertCopyRefused(key, label);
}

async function assertCopyRefused(key: string, label: string): Promise<void> {
  const to = `copy-of-${key}`;
  const headers = { 'x-amz-copy-source': `/${rig.bucket}/${key}` };
  const copied = await rawHttp(`${proxy.url}/${rig.bucket}/${to}`, { method: 'PUT', headers });
  assertRefused(copied, `${label} copied`);
  await assertAbsent(to, label);
}

async function assertAbsent(key: string, label: string): Promise<void> {
  const found = rig.store.client.send(new HeadObjectCommand({ Bucket: rig.bucket, Key: key }));
  const name = await found.then(
    () => 'there',
    (error: Error) => error.name,
  );
  assert.is(name, 'NotFound', label);
}

const required = ['encrypted', 'wrapped-dek', 'algorithm', 'key-name', 'key-version'];
const wrongValues: readonly (readonly [string, string])[] = [
  ['encrypted', 'false'],
  ['encrypted', 'TRUE'],
  ['algorithm', 'AES-128-GCM'],
  ['algorithm', 'none'],
  ['key-name', 'other'],
  ['key-name', '../svc'],
  ['key-version', '2'],
  ['key-version', '0'],
  ['key-version', 'one'],
  ['binding', 'none'],
  ['binding', 'bucket-key'],
  ['wrapped-dek', 'vault:v1:AAAA'],
  ['wrapped-dek', 'AAAA'],
  ['wrapped-dek', '{}'],
  ['wrapped-dek', 'null'],
];

test('a header that is missing is refused, in GET, range, HEAD and copy', async () => {
  await put(proxy, 'stripped', randomBytes(500));
  const [good, body] = [await metadataOf(rig, 'stripped'), readFileSync(fileOf(rig, 'stripped'))];
  for (const name of required) {
    const { [`svc-${name}`]: _, ...rest } = good;
    await plant(rig, 'stripped', body, rest);
    await assertUnreadable('stripped', name);
    assert.is((await head(proxy, 'stripped')).status, 500, name);
  }
  await plant(rig, 'stripped', body, { 'svc-binding': 'key' });
  await assertUnreadable('stripped', 'only the binding left');
});

test('the log names what was refused, of a copy its source too', async () => {
  await plant(rig, 'named/ä', randomBytes(50), { 'svc-binding': 'key' });
  await get(proxy, 'named/%C3%A4');
  const source = `/${rig.bucket}/named/%C3%A4`;
  const headers = { 'x-amz-copy-source': source };
  await rawHttp(`${proxy.url}/${rig.bucket}/named-copy`, { method: 'PUT', headers });
  const events = proxy
    .output()
    .split('\n')
    .filter((line) => line.includes('"proxy.object.refused"') && line.includes('named'))
    .map((line) => JSON.parse(line));
  assert.equal(
    events.map(({ bucket, key, source, reason }) => ({ bucket, key, source, reason })),
    [
      { bucket: rig.bucket, key: 'named/ä', source: undefined, reason: 'partial-metadata' },
      { bucket: rig.bucket, key: 'named-copy', source, reason: 'partial-metadata' },
    ],
  );
});

test('a header with another value is refused', async () => {
  await put(proxy, 'edited', randomBytes(500));
  const [good, body] = [await metadataOf(rig, 'edited'), readFileSync(fileOf(rig, 'edited'))];
  for (const [name, value] of wrongValues) {
    await plant(rig, 'edited', body, { ...good, [`svc-${name}`]: value });
    await assertUnreadable('edited', `${name}: ${value}`);
  }
});

test('a wrapped key under a higher version, or with a bit changed, is refused', async () => {
  await put(proxy, 'rewrapped', randomBytes(500));
  const good = await metadataOf(rig, 'rewrapped');
  const dek = good['svc-wrapped-dek'] ?? '';
  const edits: Metadata[] = [
    { 'svc-wrapped-dek': dek.replace('vault:v1:', 'vault:v2:'), 'svc-key-version': '2' },
    { 'svc-wrapped-dek': dek.replace(/(.{30})(.)/, (_, start, char) => start + (char === 'A' ? 'B' : 'A')) },
  ];
  for (const edit of edits) {
    await editMetadata(rig, 'rewrapped', (metadata) => Object.assign(metadata, good, edit));
    await assertUnreadable('rewrapped', JSON.stringify(edit).slice(0, 40));
  }
});

test('the metadata of another object is refused, and so is an object put under another name', async () => {
  await put(proxy, 'mine', randomBytes(500));
  await put(proxy, 'yours', randomBytes(500));
  await plant(rig, 'renamed', readFileSync(fileOf(rig, 'mine')), await metadataOf(rig, 'mine'));
  await assertUnreadable('renamed', 'renamed');
  const yours = await metadataOf(rig, 'yours');
  await editMetadata(rig, 'mine', (metadata) => Object.assign(metadata, yours));
  await assertUnreadable('mine', "another object's keys");
});

test('a binding taken off or put on is refused', async () => {
  await put(proxy, 'bound', randomBytes(500));
  await editMetadata(rig, 'bound', (metadata) => delete metadata['svc-binding']);
  await assertUnreadable('bound', 'taken off');
  await put(unbound, 'loose', randomBytes(500));
  assert.is((await get(proxy, 'loose')).status, 200);
  await editMetadata(rig, 'loose', (metadata) => Object.assign(metadata, { 'svc-binding': 'key' }));
  await assertUnreadable('loose', 'put on');
});

test('an unbound object is refused under --require-bound, and readable without', async () => {
  await put(unbound, 'free', randomBytes(500));
  assertRefused(await get(requiring, 'free'), 'single');
  assertRefused(await get(requiring, 'free', { range: 'bytes=0-1' }), 'range');
  await putParts(unbound.s3, rig.bucket, 'free-parts', [randomBytes(5 * MiB), randomBytes(9)]);
  assertRefused(await get(requiring, 'free-parts'), 'parts');
  assert.is((await get(proxy, 'free-parts')).status, 200);
});

test('an unbound object may be renamed by the store; that is what --bind none is for', async () => {
  const body = randomBytes(300);
  await put(unbound, 'before', body);
  await plant(rig, 'after', readFileSync(fileOf(rig, 'before')), await metadataOf(rig, 'before'));
  assert.equal((await get(proxy, 'after')).body, body);
});

test('an object in another bucket is readable under --bind key and refused under bucket-key', async () => {
  const body = randomBytes(300);
  for (const via of [proxy, bucketBound]) {
    await put(via, 'replica', body);
    const metadata = await metadataOf(rig, 'replica');
    const stored = readFileSync(fileOf(rig, 'replica'));
    await rig.store.client.send(
      new PutObjectCommand({ Bucket: 'second', Key: 'replica', Body: stored, Metadata: metadata }),
    );
    const answer = await get(proxy, 'replica', {}, 'second');
    if (via === proxy) assert.equal(answer.body, body);
    else assertRefused(answer, 'bucket-key');
  }
});

test('without any svc header the body is given out as stored, or refused under deny', async () => {
  await put(proxy, 'bare', randomBytes(700));
  const stored = readFileSync(fileOf(rig, 'bare'));
  await plant(rig, 'bare', stored, {});
  assert.equal((await get(proxy, 'bare')).body, stored);
  for (const headers of [{}, { range: 'bytes=0-3' }])
    assertRefused(await get(denying, 'bare', headers), 'deny', 403, 'AccessDenied');
  assert.is((await head(denying, 'bare')).status, 403);
  const source = { 'x-amz-copy-source': `/${rig.bucket}/bare` };
  const copied = await rawHttp(`${denying.url}/${rig.bucket}/bare-copy`, { method: 'PUT', headers: source });
  assertRefused(copied, 'deny copied', 403, 'AccessDenied');
  await assertAbsent('bare-copy', 'deny');
});

test('a svc header that is none of ours makes no encrypted object', async () => {
  const body = randomBytes(200);
  await plant(rig, 'foreign', body, { 'svc-owner': 'somebody', svc_encrypted: 'true' });
  assert.equal((await get(proxy, 'foreign')).body, body);
  assert.equal((await get(proxy, 'foreign', { range: 'bytes=0-3' })).body, body.subarray(0, 4));
  assert.is((await head(proxy, 'foreign')).headers['content-length'], '200');
  assertRefused(await get(denying, 'foreign'), 'deny', 403, 'AccessDenied');
  await proxy.s3.send(
    new CopyObjectCommand({ Bucket: rig.bucket, Key: 'foreign-copy', CopySource: `${rig.bucket}/foreign` }),
  );
  assert.equal((await get(proxy, 'foreign-copy')).body, body);
  assert.is((await metadataOf(rig, 'foreign-copy'))['svc-encrypted'], 'true');
  await put(proxy, 'beside', body);
  await editMetadata(rig, 'beside', (metadata) => Object.assign(metadata, { 'svc-owner': 'somebody' }));
  assert.equal((await get(proxy, 'beside')).body, body);
  await editMetadata(rig, 'beside', (metadata) => delete metadata['svc-encrypted']);
  await assertUnreadable('beside', 'a partial set beside it');
});

test('headers that only look like those of svc do not make a plaintext object readable under deny', async () => {
  await plant(rig, 'pretended', Buffer.from('x'.repeat(100)), { 'svc-encrypted': 'true' });
  assertRefused(await get(denying, 'pretended'), 'pretended');
});

test('an older version of an object that is put back is readable: only the store could tell', async () => {
  const [older, newer] = [randomBytes(300), randomBytes(300)];
  await put(proxy, 'rolled-back', older);
  const [stored, metadata] = [readFileSync(fileOf(rig, 'rolled-back')), await metadataOf(rig, 'rolled-back')];
  await put(proxy, 'rolled-back', newer);
  assert.equal((await get(proxy, 'rolled-back')).body, newer);
  await plant(rig, 'rolled-back', stored, metadata);
  assert.equal((await get(proxy, 'rolled-back')).body, older);
});

test('each version in a versioned bucket is read as what it was', async () => {
  const bodies = [randomBytes(300), randomBytes(300)];
  const versions: string[] = [];
  for (const body of bodies) versions.push((await put(proxy, 'v', body, 'versioned')).VersionId ?? '');
  for (const [index, version] of versions.entries()) {
    const answer = await get(proxy, `v?versionId=${version}`, {}, 'versioned');
    assert.equal(answer.body, bodies[index]);
  }
});

test('a copy of an object whose body was changed is unreadable as the object is', async () => {
  await put(proxy, 'tampered', randomBytes(5000));
  editFile(rig, 'tampered', flip(100));
  await proxy.s3.send(
    new CopyObjectCommand({ Bucket: rig.bucket, Key: 'tampered-copy', CopySource: `${rig.bucket}/tampered` }),
  );
  assertRefused(await get(proxy, 'tampered-copy'), 'copy');
});

test('a changed source makes no part of an upload', async () => {
  await putParts(proxy.s3, rig.bucket, 'part-source', [randomBytes(5 * MiB), randomBytes(9)]);
  editFile(rig, 'part-source', flip(1000));
  const begun = await rawHttp(`${proxy.url}/${rig.bucket}/part-target?uploads`, { method: 'POST' });
  const id = /<UploadId>([^<]*)</.exec(begun.body.toString())?.[1] ?? '';
  const url = `${proxy.url}/${rig.bucket}/part-target?uploadId=${id}`;
  const headers = {
    'x-amz-copy-source': `/${rig.bucket}/part-source`,
    'x-amz-copy-source-range': 'bytes=0-99',
  };
  assertRefused(await rawHttp(`${url}&partNumber=1`, { method: 'PUT', headers }), 'part');
  const listed = await rawHttp(url);
  assert.not.match(listed.body.toString(), '<Part>');
});

test.run();
