import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB, sha256, startBed } from '../../../clients/bed.ts';
import { startMinio } from '../../../support/minio.ts';
import { s3Client } from '../../../support/object-store.ts';
import { startRequestLog } from '../../../support/request-log.ts';
import { startSvcProxy } from '../../../support/svc-proxy.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import type { ObjectStore, SvcProxy } from '../../../support/types.ts';
import { startVersityGw } from '../../../support/versitygw.ts';
import type { BulkSetting } from '../bulk-command.ts';
import { put, upload } from '../rewrap/rewrapping.ts';
import { beginDecrypt, decrypt, reportOf } from './decrypting.ts';
import { HostileStore, type Responder } from './hostile-store.ts';

interface Context {
  readonly bed: Bed;
  /** A second proxy of the bucket, which writes format 2. */
  readonly two: SvcProxy;
  readonly twoClient: S3Client;
  /** Where plaintext goes; another store than that of the bed. */
  readonly target: ObjectStore;
  readonly setting: BulkSetting;
}

const plain = 'plain';
const mark = 'decrypted-by-svc';

/** Uploads that were begun and neither completed nor aborted, of one key: MinIO lists no others. */
async function openUploads(store: ObjectStore, Prefix: string): Promise<number> {
  const found = await store.client.send(new ListMultipartUploadsCommand({ Bucket: plain, Prefix }));
  return found.Uploads?.length ?? 0;
}

async function keysBelow(store: ObjectStore, Prefix: string, Bucket = plain): Promise<string[]> {
  const { Contents = [] } = await store.client.send(new ListObjectsV2Command({ Bucket, Prefix }));
  return Contents.map(({ Key = '' }) => Key);
}

async function fetched({ client }: ObjectStore, Key: string, Bucket = plain) {
  const found = await client.send(new GetObjectCommand({ Bucket, Key }));
  return { ...found, bytes: Buffer.from((await found.Body?.transformToByteArray()) ?? []) };
}

const exists = (store: ObjectStore, Key: string): Promise<boolean> =>
  store.client.send(new HeadObjectCommand({ Bucket: plain, Key })).then(
    () => true,
    () => false,
  );

/** The suite, with the encrypted objects in one of the stores and the plaintext in the other one. */
export function intoBucketSuite(kind: ObjectStore['kind']) {
  const test = suite<Context>(`svc proxy decrypt into a bucket, from ${kind}`);

  test.before(async (context) => {
    const startTarget = kind === 'minio' ? startVersityGw : startMinio;
    const [bed, target] = await Promise.all([startBed({ store: kind }), startTarget()]);
    Object.assign(context, { bed, target });
    await Promise.all([target.createBucket(plain), bed.store.createBucket(plain)]);
    const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
    const two = await startSvcProxy({ vault, upstream: bed.store, args: ['--format', '2'] });
    const env = {
      SVC_PROXY_DECRYPT_TO_UPSTREAM: target.endpoint,
      SVC_PROXY_DECRYPT_TO_REGION: target.region,
      SVC_PROXY_DECRYPT_TO_ACCESS_KEY_ID: target.accessKeyId,
      SVC_PROXY_DECRYPT_TO_SECRET_ACCESS_KEY: target.secretAccessKey,
    };
    const setting = { store: { ...bed.store, endpoint: bed.log.url }, vault, env };
    Object.assign(context, { two, twoClient: await s3Client(two.target), setting });
  });

  test.after(async ({ bed, two, twoClient, target }) => {
    twoClient?.destroy();
    await two?.stop();
    await bed?.stop();
    await target?.stop();
  });

  test('every form of both formats comes out byte for byte, with what its writer said of it', async ({
    bed,
    twoClient,
    target,
    setting,
  }) => {
    const said = {
      ContentType: 'text/x-odd',
      CacheControl: 'max-age=7',
      ContentDisposition: 'attachment; filename="a"',
      ContentLanguage: 'de',
      ContentEncoding: 'x-own',
      Metadata: { colour: 'blue', md5chksum: 'kept as it is' },
    };
    const written = new Map<string, Buffer>();
    for (const [format, client] of [
      [1, bed.client],
      [2, twoClient],
    ] as const) {
      const keep = ([key, body]: readonly [string, Buffer]) => written.set(key, body);
      keep(await put(client, `all/${format}/empty`, Buffer.alloc(0), said));
      keep(await put(client, `all/${format}/small`, bed.payload(100), said));
      keep(await put(client, `all/${format}/ö & b/+ %`, bed.payload(3 * MiB), said));
      keep(await upload({ client, payload: bed.payload }, `all/${format}/inline`, 2, said));
      keep(await upload({ client, payload: bed.payload }, `all/${format}/manifest`, 6, said));
      keep(await put(client, `all/${format}/large`, bed.payload(64 * MiB + 7), said));
    }
    const args = [`s3://${BUCKET}/all/`, `s3://${plain}/out`, '--json'] as const;
    const counted = reportOf(await decrypt(setting, ...args, '--dry-run'));
    assert.equal([counted.done, counted.skipped], [written.size, 0]);
    assert.equal(await keysBelow(target, ''), [], 'a dry run writes nothing');

    const first = await decrypt(setting, ...args, '--unencrypted-reads', 'deny');
    assert.is(first.status, 0, first.stdout + first.stderr);
    assert.is(reportOf(first).done, written.size);
    for (const [key, body] of written) {
      const { bytes, Metadata, ...found } = await fetched(target, `out/${key.slice(4)}`);
      assert.is(sha256(bytes), sha256(body), key);
      const { [mark]: ours, ...own } = Metadata ?? {};
      assert.ok(ours, key);
      assert.equal(own, said.Metadata, key);
      for (const name of ['ContentType', 'CacheControl', 'ContentDisposition', 'ContentLanguage'] as const)
        assert.is(found[name], said[name], `${name} of ${key}`);
      assert.is(found.ContentEncoding, said.ContentEncoding, key);
    }
    assert.is((await keysBelow(target, '')).length, written.size);

    bed.log.clear();
    const second = reportOf(await decrypt(setting, ...args));
    assert.equal([second.done, second.skipped, second.faultCount], [0, written.size, 0]);
    assert.is(bed.log.matching('GET', /^\/box\/all/).length, 0, 'no body is read again');
  });

  test('what changed is written again, and what is not ours stays', async ({ bed, target, setting }) => {
    const args = [`s3://${BUCKET}/again/`, `s3://${plain}/again/`, '--json'] as const;
    await put(bed.client, 'again/a', bed.payload(10));
    await put(bed.client, 'again/taken', bed.payload(10));
    const theirs = Buffer.from('of somebody else');
    await target.client.send(new PutObjectCommand({ Bucket: plain, Key: 'again/taken', Body: theirs }));
    const first = reportOf(await decrypt(setting, ...args));
    assert.equal(
      first.faults.map(({ key, reason }) => `${key} ${reason}`),
      ['again/taken name-taken'],
    );
    assert.equal((await fetched(target, 'again/taken')).bytes, theirs);
    const [, newer] = await put(bed.client, 'again/a', bed.payload(20));
    const second = reportOf(await decrypt(setting, ...args));
    assert.equal([second.done, second.skipped, second.faultCount], [1, 0, 1]);
    assert.equal((await fetched(target, 'again/a')).bytes, newer);
    // the same name from elsewhere is another object
    await put(bed.client, 'other/a', bed.payload(30));
    const other = reportOf(await decrypt(setting, `s3://${BUCKET}/other/`, args[1], '--json'));
    assert.equal(
      other.faults.map(({ key, reason }) => `${key} ${reason}`),
      ['other/a name-taken'],
    );
    assert.equal((await fetched(target, 'again/a')).bytes, newer);
  });

  test(
    'a profile of the AWS configuration writes there, and no trailer where the store takes none',
    byProfile,
  );

  test('killed in the middle of an upload it leaves nothing under the name, and the next run goes on', async ({
    bed,
    target,
    setting,
  }) => {
    const [, small] = await put(bed.client, 'kill/a', bed.payload(10));
    const [, large] = await put(bed.client, 'kill/large', bed.payload(64 * MiB + 1));
    const args = [`s3://${BUCKET}/kill/`, `s3://${plain}/kill/`] as const;
    const child = await beginDecrypt(setting, ...args, '--concurrency', '1');
    await child.until('an upload', async () => (await openUploads(target, 'kill/large')) > 0);
    await child.end('SIGKILL');
    assert.not.ok(await exists(target, 'kill/large'), 'it was killed in the middle');
    assert.is(await openUploads(target, 'kill/large'), 1);
    const report = reportOf(await decrypt(setting, ...args, '--json'));
    assert.equal([report.done, report.skipped, report.faultCount], [1, 1, 0]);
    assert.is(await openUploads(target, 'kill/large'), 0);
    for (const [name, body] of [
      ['a', small],
      ['large', large],
    ] as const)
      assert.is(sha256((await fetched(target, `kill/${name}`)).bytes), sha256(body), name);
  });

  // each after it is the same from either store
  if (kind === 'minio') return test;

  test('an interruption ends it with 130, and the upload under way is aborted', async ({
    bed,
    target,
    setting,
  }) => {
    await put(bed.client, 'stop/large', bed.payload(64 * MiB + 1));
    const args = [`s3://${BUCKET}/stop/`, `s3://${plain}/stop/`] as const;
    const child = await beginDecrypt(setting, ...args);
    await child.until('an upload', async () => (await openUploads(target, 'stop/large')) > 0);
    const { code } = await child.end('SIGINT');
    assert.is(code, 130, child.logs());
    assert.is(await openUploads(target, 'stop/large'), 0);
    assert.not.ok(await exists(target, 'stop/large'));
  });

  test('the bucket that is read is refused, under another address too, and so are places that are none', async ({
    bed,
    setting,
  }) => {
    await put(bed.client, 'same/a', bed.payload(10));
    const { env: _, ...same } = setting;
    const before = await keysBelow(bed.store, '', BUCKET);
    const alias = { SVC_PROXY_DECRYPT_TO_UPSTREAM: bed.store.endpoint };
    for (const [how, to] of [
      [same, `s3://${BUCKET}/plain/`],
      [{ ...same, env: alias }, `s3://${BUCKET}/plain/`],
      [setting, `s3://${plain}/.svc/x`],
      [setting, 's3:///x'],
    ] as const) {
      const result = await decrypt(how, `s3://${BUCKET}/same/`, to, '--json');
      assert.is(result.status, 78, `${to} ${result.stdout}`);
      assert.is(reportOf(result).error?.code, 'DECRYPT_USAGE');
    }
    assert.equal(await keysBelow(bed.store, '', BUCKET), before);
    const beside = reportOf(await decrypt(same, `s3://${BUCKET}/same/`, `s3://${plain}`, '--json'));
    assert.is(beside.done, 1, 'another bucket of the same store is no such place');
  });

  test('a store that lets nobody in ends the run', async ({ setting, target }) => {
    const wrong = { ...setting.env, SVC_PROXY_DECRYPT_TO_SECRET_ACCESS_KEY: 'not-the-secret' };
    const denied = await decrypt(
      { ...setting, env: wrong },
      `s3://${BUCKET}/again/`,
      `s3://${plain}/x/`,
      '--json',
    );
    assert.is(denied.status, 69, denied.stdout);
    assert.is(reportOf(denied).error?.code, 'DECRYPT_TARGET_FAILED');
    assert.not.ok(denied.stdout.includes('not-the-secret'));
    const none = await decrypt(setting, `s3://${BUCKET}/again/`, 's3://no-such-bucket', '--json');
    assert.is(reportOf(none).error?.code, 'DECRYPT_TARGET_FAILED', none.stdout);
    const half = { SVC_PROXY_DECRYPT_TO_ACCESS_KEY_ID: target.accessKeyId };
    const invalid = await decrypt({ ...setting, env: half }, `s3://${BUCKET}`, `s3://${plain}`, '--json');
    assert.is(reportOf(invalid).error?.code, 'CONFIG_INVALID');
  });

  test('one that was changed does not come out, at any size', changed);
  test('what a hostile store cuts, strips or contradicts leaves nothing in the bucket', hostile);
  return test;
}

async function byProfile({ bed, target, setting }: Context): Promise<void> {
  const bodies = new Map([100, 3 * MiB, 64 * MiB + 1].map((size) => [`by/${size}`, bed.payload(size)]));
  for (const [key, body] of bodies) await put(bed.client, key, body);
  const log = await startRequestLog(target.endpoint);
  const folder = temporaryFolder('profile');
  const { accessKeyId, secretAccessKey, region } = target;
  const keys = `aws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`;
  const file = join(folder.path, 'credentials');
  writeFileSync(file, `[other]\n${keys}`, { mode: 0o600 });
  const env = {
    AWS_SHARED_CREDENTIALS_FILE: file,
    SVC_PROXY_DECRYPT_TO_UPSTREAM: log.url,
    SVC_PROXY_DECRYPT_TO_REGION: region,
  };
  const run = (...args: string[]) =>
    decrypt({ ...setting, env }, `s3://${BUCKET}/by/`, `s3://${plain}/by/`, '--json', ...args);
  try {
    const report = reportOf(await run('--to-profile', 'other', '--to-checksum', 'none'));
    assert.equal([report.done, report.faultCount], [bodies.size, 0], JSON.stringify(report));
    for (const [key, body] of bodies)
      assert.is(sha256((await fetched(target, key)).bytes), sha256(body), key);
    const written = log.matching('PUT', /\/by\//);
    assert.ok(written.length > bodies.size);
    assert.equal(
      written.filter(({ requestHeaders }) => requestHeaders['x-amz-trailer'] !== undefined),
      [],
    );
    const missing = reportOf(await run('--to-profile', 'no-such-profile'));
    assert.is(missing.error?.code, 'DECRYPT_TARGET_FAILED', JSON.stringify(missing));
    const both = { ...setting, env: { ...setting.env, SVC_PROXY_DECRYPT_TO_PROFILE: 'other' } };
    const refused = await decrypt(both, `s3://${BUCKET}/by/`, `s3://${plain}/by/`, '--json');
    assert.is(reportOf(refused).error?.code, 'CONFIG_INVALID', refused.stdout);
  } finally {
    await log.stop();
    await folder.remove();
  }
}

async function changed({ bed, twoClient, target, setting }: Context): Promise<void> {
  const sizes = [100, 3 * MiB, 64 * MiB + 1];
  for (const [format, client] of [
    [1, bed.client],
    [2, twoClient],
  ] as const)
    for (const size of sizes) {
      const key = `bad/${format}-${size}`;
      await put(client, key, bed.payload(size));
      const path = join(bed.store.dataDir, BUCKET, key);
      const bytes = readFileSync(path);
      bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
      writeFileSync(path, bytes);
    }
  const [, good] = await put(bed.client, 'bad/good', bed.payload(10));
  const result = await decrypt(setting, `s3://${BUCKET}/bad/`, `s3://${plain}/bad/`, '--json');
  assert.is(result.status, 1, result.stdout);
  const { faults } = reportOf(result);
  assert.is(faults.length, 2 * sizes.length);
  assert.equal([...new Set(faults.map(({ reason }) => reason))], ['authentication-failed']);
  assert.equal(await keysBelow(target, 'bad/'), ['bad/good']);
  assert.equal((await fetched(target, 'bad/good')).bytes, good);
  for (const format of [1, 2]) assert.is(await openUploads(target, `bad/${format}-${sizes[2]}`), 0);
}

async function hostile({ target, setting }: Context): Promise<void> {
  const store = new HostileStore();
  const endpoint = await store.listen();
  try {
    const objects: [string, string | Responder][] = [
      [
        'cut',
        (response) =>
          void response.writeHead(200, { 'content-length': 100 }).write('x', () => response.destroy()),
      ],
      [
        'large',
        (response) =>
          void response
            .writeHead(200, { 'content-length': 70 * MiB })
            .write(Buffer.alloc(65 * MiB), () => response.destroy()),
      ],
      ['part-of-it', (response) => void response.writeHead(206, { 'content-length': 6 }).end('forged')],
      [
        'partial',
        (response) =>
          void response
            .writeHead(200, { 'x-amz-meta-svc-encrypted': 'true', 'content-length': 6 })
            .end('forged'),
      ],
      ['../../up', 'kept'],
      ['good', 'good'],
    ];
    store.objects = objects.sort(([one], [other]) => (one < other ? -1 : 1));
    const from = { ...setting, store: { ...setting.store, endpoint } };
    const result = await decrypt(from, 's3://bucket', `s3://${plain}/hostile/`, '--json');
    assert.is(result.status, 1, result.stdout);
    assert.equal(
      reportOf(result)
        .faults.map(({ key, reason }) => `${key} ${reason}`)
        .sort()
        .filter((line) => !line.startsWith('../')),
      [
        'cut ServiceUnavailable',
        'large ServiceUnavailable',
        'part-of-it wrong-size',
        'partial partial-metadata',
      ],
    );
    const found = await keysBelow(target, 'hostile/');
    assert.ok(found.includes('hostile/good'));
    assert.equal(
      found.filter((key) => /cut|large|part/.test(key)),
      [],
    );
    assert.is(await openUploads(target, 'hostile/large'), 0);
    assert.equal(
      (await keysBelow(target, '')).filter((key) => key === 'up'),
      [],
    );
  } finally {
    store.close();
  }
}
