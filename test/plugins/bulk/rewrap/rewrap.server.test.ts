import {
  CreateMultipartUploadCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB, sha256, startBed } from '../../../clients/bed.ts';
import { s3Client } from '../../../support/object-store.ts';
import { startRequestLog } from '../../../support/request-log.ts';
import { startSvcProxy } from '../../../support/svc-proxy.ts';
import type { BulkSetting } from '../bulk-command.ts';
import { decrypt } from '../decrypt/decrypting.ts';
import {
  keyConfig,
  put,
  read,
  rewrap,
  rewrapResult,
  startConditionalStore,
  storedMetadata,
  upload,
} from './rewrapping.ts';

interface Context {
  readonly bed: Bed;
  /** Through the relay that counts. */
  readonly setting: BulkSetting;
}

const test = suite<Context>('svc proxy rewrap');

test.before(async (context) => {
  const bed = await startBed({ args: ['--inline-limit', '8MiB'] });
  const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
  Object.assign(context, { bed, setting: { store: { ...bed.store, endpoint: bed.log.url }, vault } });
});

test.after(async ({ bed }) => {
  await bed?.stop();
});

async function everyForm(bed: Bed, prefix: string): Promise<Map<string, Buffer>> {
  const described = { Metadata: { owner: 'me' }, ContentType: 'text/x', Tagging: 'a=b' };
  return new Map([
    await put(bed.client, `${prefix}empty`, Buffer.alloc(0)),
    await put(bed.client, `${prefix}folder/`, Buffer.alloc(0)),
    await put(bed.client, `${prefix}small ü+%.txt`, bed.payload(100), described),
    await put(bed.client, `${prefix}large`, bed.payload(3 * MiB)),
    await upload(bed, `${prefix}inline`, 2, { ...described, ChecksumAlgorithm: 'SHA256' }),
    await upload(bed, `${prefix}manifest`, 8, described),
  ]);
}

async function assertReadable(bed: Bed, objects: ReadonlyMap<string, Buffer>): Promise<void> {
  for (const [key, body] of objects) assert.is(sha256(await read(bed.client, key)), sha256(body), key);
}

const isRefused = ({ client }: Bed, key: string): Promise<boolean> =>
  read(client, key).then(
    () => false,
    () => true,
  );

test('records bring every form of object to the latest version, without any byte of a body', async ({
  bed,
  setting,
}) => {
  const objects = await everyForm(bed, 'records/');
  await put(bed.store.client, 'records/plain', Buffer.from('plain'));
  await bed.bao.rotate();
  const at = `s3://${BUCKET}/records/`;

  bed.log.clear();
  const counted = rewrapResult(await rewrap(setting, at, '--dry-run', '--json'));
  assert.equal([counted.pending, counted.unencrypted, counted.complete], [objects.size, 1, false]);
  assert.equal(counted.keyVersions, [
    { keyName: 'svc', keyVersion: 1, objects: objects.size, olderVersions: 0, uploads: 0 },
  ]);
  assert.is(bed.log.requests.filter(({ method }) => method === 'PUT').length, 0);

  bed.log.clear();
  const done = await rewrap(setting, at);
  assert.is(done.status, 0, done.stderr + done.stdout);
  assert.match(
    done.stdout,
    /^Wrapped again: 6; 0 in headers; 6 in records; 0 already done; 1 not encrypted$/m,
  );
  assert.match(done.stdout, /^Complete: nothing in .* needs more than svc from version 2 on\.$/m);
  const moved = bed.log.requests.filter(({ path }) => !path.includes('.svc/'));
  assert.is(
    moved.reduce((sum, { requestBytes }) => sum + requestBytes, 0),
    0,
    'no body is sent',
  );
  assert.ok(
    moved.every(({ method, path }) => method === 'HEAD' || path.includes('?')),
    'no body is read',
  );

  bed.log.clear();
  const again = rewrapResult(await rewrap(setting, at, '--json'));
  assert.equal([again.current, again.recorded, again.complete], [objects.size, 0, true]);
  const written = bed.log.requests.filter(({ method }) => method === 'PUT').map(({ path }) => path);
  assert.ok(
    written.every((path) => path.includes('probe-of-copy-conditions')),
    written.join(),
  );

  await keyConfig(bed, 'svc', { min_decryption_version: 2 });
  await assertReadable(bed, objects);
  const { ChecksumSHA256 } = await bed.client.send(
    new HeadObjectCommand({ Bucket: BUCKET, Key: 'records/inline', ChecksumMode: 'ENABLED' }),
  );
  assert.ok(ChecksumSHA256, 'what is sealed under the keys opens too');
});

test('records are told from others, and a changed one opens nothing', async ({ bed, setting }) => {
  const [key] = await put(bed.client, 'forged/one', bed.payload(50));
  await put(bed.client, 'forged/two', bed.payload(50));
  await bed.bao.rotate();
  const { complete, target } = rewrapResult(await rewrap(setting, `s3://${BUCKET}/forged/`, '--json'));
  assert.ok(complete);
  const { Versions = [] } = await bed.store.client.send(
    new ListObjectVersionsCommand({ Bucket: BUCKET, Prefix: '.svc/rewraps/' }),
  );
  const texts = new Map<string, string>();
  for (const { Key = '' } of Versions) texts.set(Key, (await read(bed.store.client, Key)).toString());
  const [own, other] = ['forged/one', 'forged/two'].map(
    (name) => [...texts].find(([, text]) => JSON.parse(text).key === name) as [string, string],
  ) as [[string, string], [string, string]];
  await keyConfig(bed, 'svc', { min_decryption_version: target.keyVersion });
  try {
    const forge = (text: string) => put(bed.store.client, own[0], Buffer.from(text));
    await forge(other[1]);
    assert.ok(await isRefused(bed, key), 'the record of another object');
    await forge(JSON.stringify({ ...JSON.parse(own[1]), keys: JSON.parse(other[1]).keys }));
    assert.ok(await isRefused(bed, key), 'keys that are bound to another object');
    await forge('{');
    assert.ok(await isRefused(bed, key));
    await forge(own[1]);
    assert.is((await read(bed.client, key)).length, 50);
  } finally {
    await keyConfig(bed, 'svc', { min_decryption_version: 1 });
  }
});

test('headers get the keys where copies are held to conditions, and all else stays', async ({
  bed,
  setting,
}) => {
  const objects = await everyForm(bed, 'headers/');
  await put(bed.client, 'headers/kept', bed.payload(10), { Metadata: { 'svc-owner': 'else' } });
  const before = new Map<string, Record<string, string>>();
  for (const key of objects.keys()) before.set(key, await storedMetadata(bed.store.client, key));
  await bed.bao.rotate();
  const relay = await startConditionalStore(bed.store);
  const log = await startRequestLog(relay.url);
  const { keyVersion } = rewrapResult(await rewrap(setting, `s3://${BUCKET}/none`, '--json')).target;
  try {
    const own = { ...setting, store: { ...setting.store, endpoint: log.url } };
    const report = rewrapResult(await rewrap(own, `s3://${BUCKET}/headers/`, '--json'));
    assert.equal([report.copied, report.recorded, report.complete], [6, 1, true], JSON.stringify(report));
    assert.equal(report.recordedBecause, { 'its part list is in a manifest': 1 });
    const moved = log.requests.filter(({ path }) => !path.includes('.svc/'));
    assert.is(
      moved.reduce((sum, { requestBytes }) => sum + requestBytes, 0),
      0,
    );
    assert.is(moved.filter(({ method, path }) => method === 'GET' && !path.includes('?')).length, 0);
  } finally {
    await log.stop();
    await relay.stop();
  }
  const own = ['svc-wrapped-dek', 'svc-key-version'];
  for (const [key, metadata] of before) {
    const now = await storedMetadata(bed.store.client, key);
    const others = (all: Record<string, string>) =>
      Object.entries(all)
        .filter(([name]) => !own.includes(name))
        .sort();
    assert.equal(others(now), others(metadata), key);
    if (key !== 'headers/manifest') assert.is(now['svc-key-version'], String(keyVersion), key);
  }
  await keyConfig(bed, 'svc', { min_decryption_version: keyVersion });
  try {
    await assertReadable(bed, objects);
    for (const key of ['headers/small ü+%.txt', 'headers/inline']) {
      const { ContentType, Metadata } = await bed.client.send(
        new HeadObjectCommand({ Bucket: BUCKET, Key: key }),
      );
      assert.equal([ContentType, Metadata?.['owner']], ['text/x', 'me']);
      const tagging = new GetObjectTaggingCommand({ Bucket: BUCKET, Key: key });
      assert.equal((await bed.store.client.send(tagging)).TagSet, [{ Key: 'a', Value: 'b' }]);
    }
    const { ChecksumSHA256 } = await bed.client.send(
      new HeadObjectCommand({ Bucket: BUCKET, Key: 'headers/inline', ChecksumMode: 'ENABLED' }),
    );
    assert.ok(ChecksumSHA256);
  } finally {
    await keyConfig(bed, 'svc', { min_decryption_version: 1 });
  }
});

test('a store that holds copies to no condition is not asked for any, whatever is wanted', async ({
  bed,
  setting,
}) => {
  const result = await rewrap(setting, `s3://${BUCKET}/headers/`, '--into', 'headers', '--json');
  assert.is(result.status, 78, result.stdout);
  assert.is(rewrapResult(result).error?.code, 'REWRAP_UNSAFE');
  assert.ok(bed.proxy.pid > 0);
});

test('it is not complete while an upload is under way or an object cannot be opened', async ({
  bed,
  setting,
}) => {
  const at = { Bucket: BUCKET, Key: 'open/upload' };
  await bed.client.send(new CreateMultipartUploadCommand(at));
  await bed.bao.rotate();
  const open = await rewrap(setting, `s3://${BUCKET}/open/`, '--json');
  assert.is(open.status, 1);
  const [use] = rewrapResult(open).keyVersions;
  assert.equal([use?.uploads, use?.objects], [1, 0]);

  await put(bed.client, 'bad/a', bed.payload(10));
  await put(bed.client, 'bad/b', bed.payload(10));
  const wrapped = (await storedMetadata(bed.store.client, 'bad/b'))['svc-wrapped-dek'] as string;
  const metadata = await storedMetadata(bed.store.client, 'bad/a');
  const Metadata = { ...metadata, 'svc-wrapped-dek': wrapped };
  await put(bed.store.client, 'bad/a', await read(bed.store.client, 'bad/a'), { Metadata });
  await bed.bao.rotate();
  const bad = await rewrap(setting, `s3://${BUCKET}/bad/`, '--json');
  assert.is(bad.status, 1);
  const { complete, recorded, faults } = rewrapResult(bad);
  assert.equal([complete, recorded], [false, 1]);
  assert.equal(
    faults.map(({ key, reason }) => [key, reason]),
    [['bad/a', 'key-refused']],
  );
});

test('another key, or another mount, takes over, and the old one can go', async ({ bed, setting }) => {
  const objects = await everyForm(bed, 'move/');
  await bed.bao.request('POST', 'transit/keys/second', {});
  await bed.bao.enableTransit('team/transit', 'second');
  const rule = (path: string) => `path "${path}" { capabilities = ["update"] }\n`;
  const policy = ['svc', 'second']
    .flatMap((key) => ['encrypt', 'decrypt'].map((what) => `transit/${what}/${key}`))
    .concat(['team/transit/encrypt/second', 'team/transit/decrypt/second'])
    .map(rule)
    .join('');
  await bed.bao.request('PUT', 'sys/policies/acl/move', { policy });
  const body = { policies: ['move'], no_default_policy: true };
  const token = (await bed.bao.request('POST', 'auth/token/create', body)).json.auth.client_token as string;
  const vault = { addr: bed.bao.url, token };
  const at = `s3://${BUCKET}/move/`;
  const report = rewrapResult(await rewrap({ ...setting, vault }, at, '--to-key', 'second', '--json'));
  assert.equal([report.recorded, report.complete, report.target.keyName], [6, true, 'second']);
  await assertReadable(bed, objects);
  const denied = await rewrap(setting, at, '--to-key', 'second');
  assert.is(denied.status, 77, denied.stderr);
  assert.match(denied.stderr, /transit\/encrypt\/second/);

  const mounted = ['--transit-key', 'second', '--to-mount', 'team/transit'];
  const moved = rewrapResult(await rewrap({ ...setting, vault }, at, ...mounted, '--json'));
  assert.equal([moved.recorded, moved.complete, moved.target.mount], [6, true, 'team/transit']);
  const again = rewrapResult(await rewrap({ ...setting, vault }, at, ...mounted, '--json'));
  assert.equal([again.current, again.recorded, again.complete], [6, 0, true]);

  await keyConfig(bed, 'second', { deletion_allowed: true });
  await bed.bao.request('DELETE', 'transit/keys/second');
  const args = ['--transit-key', 'second', '--transit-mount', 'team/transit'];
  const proxy = await startSvcProxy({ vault, upstream: bed.store, args });
  const client = await s3Client(proxy.target);
  try {
    await assertReadable({ ...bed, client }, objects);
    const setting2 = { store: bed.store, vault };
    const to = `/tmp/svc-rewrap-${process.pid}`;
    const out = await decrypt(setting2, at, to, '--dry-run', ...args);
    assert.is(out.status, 0, out.stderr);
  } finally {
    client.destroy();
    await proxy.stop();
  }
});

test('records of a key of the same name at another mount are not taken for those of this one', async ({
  bed,
  setting,
}) => {
  const objects = new Map([
    await put(bed.client, 'back/small', bed.payload(100)),
    await upload(bed, 'back/inline', 2),
  ]);
  await bed.bao.enableTransit('other/transit', 'svc');
  for (let version = 1; version < 9; version++)
    await bed.bao.request('POST', 'other/transit/keys/svc/rotate', {});
  const policy = ['transit', 'other/transit']
    .flatMap((mount) => ['encrypt', 'decrypt'].map((what) => `${mount}/${what}/svc`))
    .map((path) => `path "${path}" { capabilities = ["update"] }\n`)
    .join('');
  await bed.bao.request('PUT', 'sys/policies/acl/back', { policy });
  const body = { policies: ['back'], no_default_policy: true };
  const token = (await bed.bao.request('POST', 'auth/token/create', body)).json.auth.client_token as string;
  const both = { ...setting, vault: { addr: bed.bao.url, token } };
  const at = `s3://${BUCKET}/back/`;
  const away = rewrapResult(await rewrap(both, at, '--to-mount', 'other/transit', '--json'));
  assert.equal([away.recorded, away.target.keyVersion], [2, 9]);

  await bed.bao.request('POST', 'transit/keys/svc/rotate', {});
  const dry = rewrapResult(await rewrap(setting, at, '--dry-run', '--json'));
  const { keyVersion } = dry.target;
  assert.ok(keyVersion < 9, `the records have a later version, not ${keyVersion}`);
  assert.equal([dry.pending, dry.complete], [2, false]);
  assert.equal(
    dry.keyVersions.map((use) => [use.keyVersion, use.objects]),
    [[keyVersion - 1, 2]],
  );
  const back = rewrapResult(await rewrap(both, at, '--json'));
  assert.equal([back.recorded, back.current, back.complete], [2, 0, true]);
  const again = rewrapResult(await rewrap(both, at, '--json'));
  assert.equal([again.recorded, again.current, again.complete], [0, 2, true]);
  await keyConfig(bed, 'svc', { min_decryption_version: keyVersion });
  await assertReadable(bed, objects);
});

test.run();
