import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET, MiB, sha256, startBed } from '../../../clients/bed.ts';
import { FAITHFUL_KEYS, LONGEST_KEY } from '../../../clients/odd-keys.ts';
import { filesBelow } from '../../../objects/format/python-reader.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import type { BulkSetting } from '../bulk-command.ts';
import { beginDecrypt, decrypt, reportOf } from './decrypting.ts';

interface Context {
  readonly bed: Bed;
  readonly setting: BulkSetting;
  readonly folder: TemporaryFolder;
}

const test = suite<Context>('svc proxy decrypt');

test.before(async (context) => {
  const bed = await startBed();
  const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
  const setting = { store: { ...bed.store, endpoint: bed.log.url }, vault };
  Object.assign(context, { bed, setting, folder: temporaryFolder('decrypt') });
});

test.after(async ({ bed, folder }) => {
  await bed?.stop();
  await folder?.remove();
});

async function put({ client }: Bed, Key: string, Body: Buffer): Promise<readonly [string, Buffer]> {
  await client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
  return [Key, Body];
}

async function upload(
  { client, payload }: Bed,
  Key: string,
  parts: number,
): Promise<readonly [string, Buffer]> {
  const at = { Bucket: BUCKET, Key };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  const bodies = Array.from({ length: parts }, (_, index) => payload(index === parts - 1 ? 1000 : 5 * MiB));
  const Parts = [];
  for (const [index, Body] of bodies.entries()) {
    const PartNumber = 2 * index + 1;
    const { ETag } = await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body }));
    Parts.push({ PartNumber, ETag });
  }
  await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
  return [Key, Buffer.concat(bodies)];
}

const digests = (files: Iterable<readonly [string, Buffer]>) =>
  [...files].map(([name, bytes]) => `${name} ${bytes.length} ${sha256(bytes)}`).sort();
/** What lies in the folder, without what is the command's own. */
const plain = (to: string) =>
  digests([...filesBelow(to)].filter(([name]) => !name.startsWith('%svc-decrypt/')));
const own = (to: string) => readdirSync(join(to, '%svc-decrypt')).sort();

test('every form of object comes out byte for byte, and the second run reads no body', async ({
  bed,
  setting,
  folder,
}) => {
  const written = new Map([
    await put(bed, 'all/empty', Buffer.alloc(0)),
    await put(bed, 'all/small', bed.payload(1)),
    await put(bed, 'all/large.bin', bed.payload(20 * MiB + 1)),
    await upload(bed, 'all/inline', 2),
    await upload(bed, 'all/manifest', 8),
  ]);
  for (const key of [...FAITHFUL_KEYS.versitygw, LONGEST_KEY])
    written.set(...(await put(bed, `all/${key}`.slice(0, 1000), bed.payload(50))));
  await put(bed, 'all/folder/', Buffer.alloc(0));
  const to = join(folder.path, 'all');
  const expected = digests([...written].map(([key, body]) => [key.slice(4).replaceAll('%', '%25'), body]));

  const counted = await decrypt(setting, `s3://${BUCKET}/all/`, to, '--dry-run', '--json');
  assert.is(counted.status, 0, counted.stderr);
  assert.is(reportOf(counted).done, written.size + 1);
  assert.not.ok(existsSync(to), 'a dry run writes nothing');

  const first = await decrypt(setting, `s3://${BUCKET}/all/`, to, '--json', '--unencrypted-reads', 'deny');
  assert.is(first.status, 0, first.stderr);
  const { done, skipped, faultCount, renamed } = reportOf(first);
  assert.equal([done, skipped, faultCount, renamed], [written.size + 1, 0, 0, []]);
  assert.equal(plain(to), expected);
  assert.ok(statSync(join(to, 'folder')).isDirectory());
  assert.is(statSync(join(to, 'small')).mode & 0o777, 0o600);
  assert.equal(own(to), ['journal-1.jsonl']);

  bed.log.clear();
  const second = await decrypt(setting, `s3://${BUCKET}/all/`, to);
  assert.is(second.status, 0, second.stderr);
  assert.match(
    second.stdout,
    new RegExp(`^Decrypted: 0 objects, 0\\.0 KiB; ${written.size + 1} already complete$`, 'm'),
  );
  assert.is(bed.log.matching('GET', /^\/box\/all/).length, 0);
  assert.equal(own(to), ['journal-2.jsonl']);

  await put(bed, 'all/small', bed.payload(7));
  rmSync(join(to, 'empty'));
  const third = reportOf(await decrypt(setting, `s3://${BUCKET}/all/`, to, '--json'));
  assert.equal([third.done, third.skipped, third.renamed], [2, written.size - 1, []]);
  assert.is(statSync(join(to, 'small')).size, 7);
  assert.is(statSync(join(to, 'empty')).size, 0);

  const other = await decrypt(setting, `s3://${BUCKET}/al`, to);
  assert.is(other.status, 78);
  assert.match(other.stderr, /is from another source .*\(DECRYPT_FOLDER\)/);
});

test('one that was changed in the store does not come out, the others do, and the status says so', async ({
  bed,
  setting,
  folder,
}) => {
  const bodies = new Map<string, Buffer>();
  for (let index = 0; index < 6; index++)
    bodies.set(...(await put(bed, `bad/${index}`, bed.payload(3 * MiB))));
  await upload(bed, 'bad/parts', 8);
  const flip = (key: string) => {
    const path = join(bed.store.dataDir, BUCKET, key);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    writeFileSync(path, bytes);
  };
  flip('bad/3');
  flip('bad/parts');
  const to = join(folder.path, 'bad');
  const result = await decrypt(setting, `s3://${BUCKET}/bad/`, to, '--json');
  assert.is(result.status, 1, result.stderr);
  const { done, faults } = reportOf(result);
  assert.is(done, 5);
  assert.equal(faults.map(({ key, reason }) => `${key} ${reason}`).sort(), [
    'bad/3 authentication-failed',
    'bad/parts authentication-failed',
  ]);
  const expected = digests([...bodies].map(([key, body]) => [key.slice(4), body])).filter(
    (line) => !line.startsWith('3 '),
  );
  assert.equal(plain(to), expected);
  assert.equal(own(to), ['journal-1.jsonl']);
  const text = await decrypt(setting, `s3://${BUCKET}/bad/`, to);
  assert.is(text.status, 1);
  assert.match(text.stdout, /^"bad\/3" {2}authentication-failed: /m);
  assert.match(text.stdout, /5 already complete; 2 not decrypted \(2 authentication-failed\)$/m);
  flip('bad/3');
  flip('bad/parts');
  const again = await decrypt(setting, `s3://${BUCKET}/bad/`, to, '--json');
  assert.is(again.status, 0, again.stdout);
  assert.is(reportOf(again).done, 2);

  await put(bed, 'bad/3', bed.payload(MiB));
  flip('bad/3');
  assert.is((await decrypt(setting, `s3://${BUCKET}/bad/`, to)).status, 1);
  const [, third] = await put(bed, 'bad/3', bed.payload(2 * MiB));
  assert.is((await decrypt(setting, `s3://${BUCKET}/bad/`, to)).status, 0);
  assert.equal(
    readFileSync(join(to, '3')),
    third,
    'a state that came after a fault replaces the one before it',
  );
});

test('killed in the middle it leaves no half file, and goes on where it was', async ({
  bed,
  setting,
  folder,
}) => {
  const bodies = new Map<string, Buffer>();
  for (let index = 10; index < 40; index++)
    bodies.set(...(await put(bed, `kill/${index}`, bed.payload(2 * MiB))));
  const to = join(folder.path, 'kill');
  const known = () => (existsSync(to) ? readdirSync(to).filter((name) => /^\d+$/.test(name)) : []);
  for (const enough of [4, 12]) {
    const child = await beginDecrypt(setting, `s3://${BUCKET}/kill/`, to, '--concurrency', '2');
    await child.until('files', () => known().length >= enough);
    bed.store.pause();
    await child.end('SIGKILL');
    bed.store.resume();
    for (const name of known())
      assert.is(sha256(readFileSync(join(to, name))), sha256(bodies.get(`kill/${name}`) as Buffer), name);
    assert.ok(known().length < 30, 'it was killed in the middle');
    assert.ok(own(to).includes('lock'));
  }
  const found = known().length;
  const result = await decrypt(setting, `s3://${BUCKET}/kill/`, to, '--json');
  assert.is(result.status, 0, result.stderr);
  const { done, skipped, renamed } = reportOf(result);
  assert.is(done + skipped, 30);
  assert.ok(skipped >= found - 2, `${skipped} of ${found} files were known`);
  assert.equal(renamed, []);
  assert.equal(plain(to), digests([...bodies].map(([key, body]) => [key.slice(5), body])));
  assert.is(own(to).length, 1);
});

test('an interruption ends it with 130, and leaves a folder to go on in', async ({
  bed,
  setting,
  folder,
}) => {
  const to = join(folder.path, 'interrupted');
  const child = await beginDecrypt(setting, `s3://${BUCKET}/kill/`, to, '--concurrency', '1');
  await child.until('a file', () => existsSync(join(to, '10')));
  bed.store.pause();
  const { code } = await child.end('SIGINT');
  bed.store.resume();
  assert.is(code, 130);
  assert.match(child.logs(), /^Decrypted: \d+ objects?, /m, 'what came out before is told');
  assert.not.ok(own(to).includes('lock'));
  assert.is((await decrypt(setting, `s3://${BUCKET}/kill/`, to)).status, 0);
});

test('without a key server, a store or a folder of its own it says so and writes nothing', async ({
  bed,
  setting,
  folder,
}) => {
  const to = join(folder.path, 'none');
  const wrong = { ...setting, vault: { ...setting.vault, token: 'wrong' } };
  const denied = await decrypt(wrong, `s3://${BUCKET}/kill/`, to, '--json');
  assert.is(denied.status, 77, denied.stdout);
  assert.is(reportOf(denied).error?.code, 'VAULT_DENIED');
  assert.equal(plain(to), []);
  const away = { ...setting, store: { ...setting.store, endpoint: 'http://127.0.0.1:1' } };
  const unreachable = await decrypt(away, `s3://${BUCKET}`, join(folder.path, 'away'));
  assert.is(unreachable.status, 69, unreachable.stderr);
  assert.match(unreachable.stderr, /DECRYPT_STORE_FAILED/);
  const missing = await decrypt(setting, 's3://no-such-bucket', join(folder.path, 'away2'));
  assert.match(missing.stderr, /NoSuchBucket/);
  mkdirSync(join(folder.path, 'used'));
  writeFileSync(join(folder.path, 'used', 'a'), '');
  const used = await decrypt(setting, `s3://${BUCKET}`, join(folder.path, 'used'));
  assert.is(used.status, 78);
  assert.match(used.stderr, /holds other files \(DECRYPT_FOLDER\)/);
  assert.is((await decrypt(setting, BUCKET, join(folder.path, 'x'))).status, 78);
  assert.ok(bed.proxy.pid > 0);
});

test('a link in the folder is not followed', async ({ setting, folder }) => {
  const to = join(folder.path, 'links');
  const outside = join(folder.path, 'outside');
  mkdirSync(outside);
  assert.is((await decrypt(setting, `s3://${BUCKET}/all/sma`, to)).status, 0);
  rmSync(join(to, 'small'));
  symlinkSync(join(outside, 'file'), join(to, 'small'));
  const { renamed } = reportOf(await decrypt(setting, `s3://${BUCKET}/all/sma`, to, '--json'));
  assert.is(renamed.length, 1);
  assert.equal(readdirSync(outside), []);

  mkdirSync(join(outside, 'parts'));
  writeFileSync(join(outside, 'parts', 'kept'), '');
  const linked = join(folder.path, 'linked');
  mkdirSync(linked);
  symlinkSync(outside, join(linked, '%svc-decrypt'));
  assert.is((await decrypt(setting, `s3://${BUCKET}/all/sma`, linked)).status, 78);
  assert.equal(readdirSync(join(outside, 'parts')), ['kept']);
});

test.run();
