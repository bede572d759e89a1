import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB, sha256, startBed } from '../../clients/bed.ts';
import type { BulkSetting } from '../../plugins/bulk/bulk-command.ts';
import { decrypt, reportOf } from '../../plugins/bulk/decrypt/decrypting.ts';
import {
  keyConfig,
  put,
  read,
  rewrap,
  rewrapResult,
  storedMetadata,
  upload,
} from '../../plugins/bulk/rewrap/rewrapping.ts';
import { type AgeKey, ageKey } from '../../support/age-keys.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import { filesBelow } from '../format/python-reader.ts';

interface Context {
  readonly bed: Bed;
  readonly setting: BulkSetting;
  readonly folder: TemporaryFolder;
  readonly keys: readonly [AgeKey, AgeKey];
}

const test = suite<Context>('recovery keys of the proxy');

test.before(async (context) => {
  const keys = [ageKey(), ageKey()] as const;
  const recipients = `${keys[0].recipient}, ${keys[1].rawPublic.toString('base64')}`;
  const bed = await startBed({ args: ['--recovery-recipient', recipients, '--inline-limit', '8MiB'] });
  const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
  Object.assign(context, {
    bed,
    keys,
    setting: { store: bed.store, vault },
    folder: temporaryFolder('recovery'),
  });
});

test.after(async ({ bed, folder }) => {
  await bed?.stop();
  await folder?.remove();
});

const written = new Map<string, Buffer>();

test('every way of writing seals the keys, and readers with a key server see no difference', async ({
  bed,
}) => {
  const { client, payload } = bed;
  const keep = ([key, body]: readonly [string, Buffer]) => written.set(key, body);
  keep(await put(client, 'all/empty', Buffer.alloc(0)));
  keep(await put(client, 'all/small', payload(100)));
  keep(await put(client, 'all/large', payload(3 * MiB)));
  keep(await upload(bed, 'all/inline', 2));
  keep(await upload(bed, 'all/manifest', 4));
  for (const name of ['small', 'inline', 'manifest']) {
    const Key = `all/copy of ${name}`;
    await client.send(new CopyObjectCommand({ Bucket: BUCKET, Key, CopySource: `${BUCKET}/all/${name}` }));
    written.set(Key, written.get(`all/${name}`) as Buffer);
  }
  const at = { Bucket: BUCKET, Key: 'all/part copy' };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  const part = { ...at, UploadId, PartNumber: 1, CopySource: `${BUCKET}/all/large` };
  const { CopyPartResult } = await client.send(new UploadPartCopyCommand(part));
  const Parts = [{ PartNumber: 1, ETag: CopyPartResult?.ETag }];
  await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
  written.set(at.Key, written.get('all/large') as Buffer);
  for (const [key, body] of written) {
    assert.is(sha256(await read(client, key)), sha256(body), key);
    const recovery = (await storedMetadata(bed.store.client, key))['svc-recovery'];
    assert.match(recovery ?? '', /^[\w-]{107}\.[\w-]{107}$/, key);
  }
});

test('keys that are wrapped again stay recoverable', async ({ bed, setting }) => {
  await bed.bao.rotate();
  const report = rewrapResult(await rewrap(setting, `s3://${BUCKET}/all/`, '--json'));
  assert.ok(report.complete, JSON.stringify(report));
  await keyConfig(bed, 'svc', { min_decryption_version: 2 });
});

test('metadata that leave no room are refused, and say how much there is', async ({ bed }) => {
  const Metadata = { filler: 'x'.repeat(1700) };
  const error = await put(bed.client, 'full', bed.payload(10), { Metadata }).then(
    () => undefined,
    (thrown: Error & { MaxSizeAllowed?: string }) => thrown,
  );
  assert.is(error?.name, 'MetadataTooLarge');
  assert.ok(Number(error?.MaxSizeAllowed) < 1700, String(error?.MaxSizeAllowed));
  const found = await bed.store.client
    .send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'full' }))
    .catch(() => undefined);
  assert.is(found, undefined);
});

test('without the key server, one of the keys brings everything back, byte for byte', async ({
  bed,
  setting,
  folder,
  keys,
}) => {
  await put(bed.client, 'moved/from', bed.payload(10));
  await put(bed.client, 'moved/to', bed.payload(10));
  const theirs = await storedMetadata(bed.store.client, 'moved/from');
  const own = await storedMetadata(bed.store.client, 'moved/to');
  const body = await read(bed.store.client, 'moved/to');
  const Metadata = { ...own, 'svc-recovery': theirs['svc-recovery'] as string };
  await put(bed.store.client, 'moved/to', body, { Metadata });
  const { 'svc-recovery': _, ...none } = own;
  await put(bed.store.client, 'moved/none', body, { Metadata: none });
  await bed.bao.stop();

  const gone = { ...setting, vault: { addr: 'http://127.0.0.1:1', token: 'gone' } };
  const expected = [...written].map(([key, bytes]) => `${key.slice(4)} ${sha256(bytes)}`).sort();
  for (const [index, key] of keys.entries()) {
    const file = key.write(join(folder.path, `key-${index}`));
    const to = join(folder.path, `out-${index}`);
    const args = ['--recovery-key', file, '--unencrypted-reads', 'deny', '--require-bound', '--json'];
    const result = await decrypt(gone, `s3://${BUCKET}/all/`, to, ...args);
    assert.is(result.status, 0, result.stderr + result.stdout);
    assert.is(reportOf(result).done, written.size);
    const found = [...filesBelow(to)].filter(([name]) => !name.startsWith('%svc-decrypt/'));
    assert.equal(found.map(([name, bytes]) => `${name} ${sha256(bytes)}`).sort(), expected);
  }
  const moved = await decrypt(
    gone,
    `s3://${BUCKET}/moved/`,
    join(folder.path, 'moved'),
    ...['--recovery-key', join(folder.path, 'key-0'), '--json'],
  );
  assert.is(moved.status, 1);
  assert.equal(
    reportOf(moved)
      .faults.map(({ key, reason }) => `${key} ${reason}`)
      .sort(),
    ['moved/none not-recoverable', 'moved/to not-recoverable'],
    'a blob of another object opens nothing here',
  );
  const stranger = ageKey().write(join(folder.path, 'stranger'));
  const other = await decrypt(
    gone,
    `s3://${BUCKET}/all/`,
    join(folder.path, 'x'),
    '--recovery-key',
    stranger,
    '--json',
  );
  assert.is(other.status, 1);
  assert.equal([...new Set(reportOf(other).faults.map(({ reason }) => reason))], ['not-recoverable']);
  const wrong = await decrypt(
    gone,
    `s3://${BUCKET}/all/`,
    join(folder.path, 'y'),
    '--recovery-key',
    '/dev/null',
  );
  assert.is(wrong.status, 78);
  assert.match(wrong.stderr, /RECOVERY_KEY/);
});

test.run();
