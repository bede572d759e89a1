import { join } from 'node:path';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB, sha256, startBed } from '../../../clients/bed.ts';
import { type AgeKey, ageKey } from '../../../support/age-keys.ts';
import { s3Client } from '../../../support/object-store.ts';
import { startSvcProxy } from '../../../support/svc-proxy.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import type { SvcProxy } from '../../../support/types.ts';
import { decrypt, reportOf, type Setting } from '../decrypt/decrypting.ts';
import { filesBelow } from '../format/python-reader.ts';
import { put, rewrap, rewrapResult, storedMetadata, upload } from '../rewrap/rewrapping.ts';

interface Context {
  readonly bed: Bed;
  readonly two: SvcProxy;
  readonly twoClient: S3Client;
  readonly setting: Setting;
  readonly folder: TemporaryFolder;
  readonly key: AgeKey;
}

const test = suite<Context>('the exit: both formats, another transit key, no key server');

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

test('a bucket of both formats is written, and its keys are wrapped by another transit key', async ({
  bed,
  twoClient,
  setting,
}) => {
  const keep = ([key, body]: readonly [string, Buffer]) => written.set(key, body);
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
  const { 'svc-algorithm': algorithm } = await storedMetadata(bed.store.client, 'all/2/manifest');
  assert.is(algorithm, 'AES-256-GCM-STREAM-64KiB');
  const { status, text } = await bed.bao.request('POST', 'transit/keys/next', { type: 'aes256-gcm96' });
  assert.ok(status < 300, text);
  const report = rewrapResult(await rewrap(setting, `s3://${BUCKET}/all/`, '--to-key', 'next', '--json'));
  assert.ok(report.complete, JSON.stringify(report));
  assert.is(report.recorded, written.size);
  const current = rewrapResult(await rewrap(setting, `s3://${BUCKET}/all/`, '--to-key', 'next', '--json'));
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
  const result = await decrypt(gone, `s3://${BUCKET}/all/`, to, ...args);
  assert.is(result.status, 0, result.stdout + result.stderr);
  assert.is(reportOf(result).done, written.size);
  const found = [...filesBelow(to)].filter(([name]) => !name.startsWith('%svc-decrypt/'));
  assert.equal(
    found.map(([name, bytes]) => `${name} ${sha256(bytes)}`).sort(),
    [...written].map(([name, bytes]) => `${name.slice(4)} ${sha256(bytes)}`).sort(),
  );
});

test.run();
