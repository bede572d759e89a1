import { join } from 'node:path';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB, sha256, startBed } from '../../../clients/bed.ts';
import { filesBelow, formatScript, readByPython } from '../../../objects/format/python-reader.ts';
import { type AgeKey, ageKey } from '../../../support/age-keys.ts';
import { s3Client } from '../../../support/object-store.ts';
import { runCommand } from '../../../support/run-command.ts';
import { startSvcProxy } from '../../../support/svc-proxy.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import type { SvcProxy } from '../../../support/types.ts';
import { requireTool } from '../../../testbed/ensure.ts';
import { reportOf as reportOfCheck, runValidate } from '../../validate/run-validate.ts';
import type { BulkSetting } from '../bulk-command.ts';
import { audit, migrate, migrateResult } from '../migrate/migrating.ts';
import { put, rewrap, rewrapResult, storedMetadata, upload } from '../rewrap/rewrapping.ts';
import { decrypt, reportOf } from './decrypting.ts';

interface Context {
  readonly bed: Bed;
  readonly two: SvcProxy;
  readonly twoClient: S3Client;
  readonly setting: BulkSetting;
  readonly folder: TemporaryFolder;
  readonly key: AgeKey;
}

const test = suite<Context>(
  'the exit: plaintext and both formats, migrated, another transit key, no key server',
);

test.before(async (context) => {
  const key = ageKey();
  const args = ['--recovery-recipient', key.recipient, '--inline-limit', '8MiB'];
  const bed = await startBed({ args });
  Object.assign(context, { bed, key, folder: temporaryFolder('exit') });
  const vault = { addr: bed.bao.url, token: bed.bao.rootToken };
  const two = await startSvcProxy({ vault, upstream: bed.store, args: [...args, '--format', '2'] });
  Object.assign(context, {
    two,
    twoClient: await s3Client(two.target),
    setting: { store: bed.store, vault },
  });
});

test.after(async ({ bed, two, twoClient, folder }) => {
  twoClient?.destroy();
  await two?.stop();
  await bed?.stop();
  await folder?.remove();
});

const written = new Map<string, Buffer>();

const keep = ([key, body]: readonly [string, Buffer]) => written.set(key, body);
const at = (prefix: string) => `s3://${BUCKET}/all/${prefix}`;

test('a bucket of plaintext and both formats is written', async ({ bed, twoClient }) => {
  for (const [format, client] of [
    [1, bed.client],
    [2, twoClient],
  ] as const) {
    const writer = { client, payload: bed.payload };
    keep(await put(client, `all/${format}/empty`, Buffer.alloc(0)));
    keep(await put(client, `all/${format}/small`, bed.payload(100)));
    keep(await put(client, `all/${format}/segments`, bed.payload(3 * MiB + 1)));
    keep(await upload(writer, `all/${format}/inline`, 2));
    keep(await upload(writer, `all/${format}/manifest`, 4));
  }
  for (const place of ['to-1', 'to-2']) {
    const writer = { client: bed.store.client, payload: bed.payload };
    keep(await put(writer.client, `all/${place}/plain empty`, Buffer.alloc(0)));
    keep(await put(writer.client, `all/${place}/plain small`, bed.payload(100)));
    keep(await put(writer.client, `all/${place}/plain large`, bed.payload(11 * MiB + 7)));
    keep(await upload(writer, `all/${place}/plain parts`, 2));
  }
  keep(await put(bed.client, 'all/to-2/format 1', bed.payload(3 * MiB)));
  keep(await upload({ client: bed.client, payload: bed.payload }, 'all/to-2/format 1 in parts', 3));
});

test('plaintext is encrypted in place, and format 1 brought to format 2', async ({ bed, setting, key }) => {
  const args = ['--recovery-recipient', key.recipient, '--part-size', '5MiB', '--json'];
  const first = migrateResult(await migrate(setting, at('to-1/'), ...args));
  assert.equal([first.complete, first.fromPlaintext, first.fromFormat1], [true, 4, 0], JSON.stringify(first));
  const second = migrateResult(await migrate(setting, at('to-2/'), '--format', '2', ...args));
  assert.equal(
    [second.complete, second.fromPlaintext, second.fromFormat1],
    [true, 4, 2],
    JSON.stringify(second),
  );
  const audited = await audit(setting, 'all/');
  assert.is(audited.status, 0, audited.stdout);
  const formats = new Map<string, string>();
  for (const name of written.keys()) {
    const { 'svc-algorithm': algorithm = 'plaintext' } = await storedMetadata(bed.store.client, name);
    const place = name.slice(0, name.lastIndexOf('/'));
    formats.set(place, [...new Set([...(formats.get(place)?.split(' ') ?? []), algorithm])].join(' '));
  }
  assert.equal(Object.fromEntries(formats), {
    ...{ 'all/1': 'AES-256-GCM', 'all/to-1': 'AES-256-GCM' },
    ...{ 'all/2': 'AES-256-GCM-STREAM-64KiB', 'all/to-2': 'AES-256-GCM-STREAM-64KiB' },
  });
});

test('the keys of all of it are wrapped by another transit key', async ({ bed, setting }) => {
  const { status, text } = await bed.bao.request('POST', 'transit/keys/next', { type: 'aes256-gcm96' });
  assert.ok(status < 300, text);
  const report = rewrapResult(await rewrap(setting, at(''), '--to-key', 'next', '--json'));
  assert.ok(report.complete, JSON.stringify(report));
  assert.is(report.recorded, written.size);
  const current = rewrapResult(await rewrap(setting, at(''), '--to-key', 'next', '--json'));
  assert.equal([current.recorded, current.current], [0, written.size]);
});

test('a proxy of the other transit key reads all of it', async ({ bed, setting }) => {
  const proxy = await startSvcProxy({
    vault: setting.vault,
    upstream: bed.store,
    args: ['--transit-key', 'next'],
  });
  const client = await s3Client(proxy.target);
  try {
    for (const [Key, body] of written) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
      assert.is(sha256(Buffer.from((await Body?.transformToByteArray()) ?? [])), sha256(body), Key);
    }
  } finally {
    client.destroy();
    await proxy.stop();
  }
});

test('without the key server the recovery key brings back every byte', async ({
  bed,
  setting,
  folder,
  key,
}) => {
  await bed.bao.stop();
  const gone = { ...setting, vault: { addr: 'http://127.0.0.1:1', token: 'gone' } };
  const to = join(folder.path, 'out');
  const args = [
    '--recovery-key',
    key.write(join(folder.path, 'key')),
    '--unencrypted-reads',
    'deny',
    '--json',
  ];
  const result = await decrypt(gone, at(''), to, ...args);
  assert.is(result.status, 0, result.stdout + result.stderr);
  assert.is(reportOf(result).done, written.size);
  const found = [...filesBelow(to)].filter(([name]) => !name.startsWith('%svc-decrypt/'));
  assert.equal(
    found.map(([name, bytes]) => `${name} ${sha256(bytes)}`).sort(),
    [...written].map(([name, bytes]) => `${name.slice(4)} ${sha256(bytes)}`).sort(),
  );
});

test('so it is rehearsed', async ({ setting: { store }, folder }) => {
  const run = await runValidate(
    { pre: false, 'rehearse-recovery': true },
    {
      ...{ AWS_ACCESS_KEY_ID: store.accessKeyId, AWS_SECRET_ACCESS_KEY: store.secretAccessKey },
      ...{ AWS_REGION: store.region, AWS_EC2_METADATA_DISABLED: 'true', SVC_PROXY_UPSTREAM: store.endpoint },
      ...{ SVC_VALIDATE_BUCKET: BUCKET, SVC_PROXY_RECOVERY_KEY_FILE: join(folder.path, 'key') },
    },
  );
  assert.is(run.status, 0, run.stdout + run.stderr);
  assert.is(reportOfCheck(run, 'SVC-RECOVERY-003').examined?.length, written.size);
});

test('and the reader in Python, without svc, has the same bytes', async ({ setting: { store }, folder }) => {
  const [stored, plain] = [join(folder.path, 'stored'), join(folder.path, 'plain')];
  const { bins } = await requireTool('boto3');
  const fetched = await runCommand(
    bins['python'] as string,
    ['-B', formatScript('fetch.py'), BUCKET, stored, '--endpoint-url', store.endpoint],
    folder.path,
    {
      env: {
        ...{ AWS_ACCESS_KEY_ID: store.accessKeyId, AWS_SECRET_ACCESS_KEY: store.secretAccessKey },
        ...{ AWS_REGION: store.region, AWS_DEFAULT_REGION: store.region },
      },
    },
  );
  assert.is(fetched.status, 0, fetched.stderr);
  const args = ['--recovery-key', join(folder.path, 'key'), '--encrypted-only'];
  const result = await readByPython([stored, '--to', plain, ...args]);
  assert.is(result.status, 0, result.stdout + result.stderr);
  assert.equal(
    [...filesBelow(plain)].map(([name, bytes]) => `${name} ${sha256(bytes)}`).sort(),
    [...written].map(([name, bytes]) => `${BUCKET}/${name} ${sha256(bytes)}`).sort(),
  );
});

test.run();
