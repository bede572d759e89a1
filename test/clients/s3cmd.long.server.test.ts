import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { GetObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { auditStore, list } from './audit.ts';
import { type Bed, BUCKET, MiB, startBed } from './bed.ts';
import { LONGEST_KEY } from './odd-keys.ts';
import { ODD_TREE, readTree, TREE, writeTree } from './trees.ts';

type Run = (...args: string[]) => Promise<string>;
const test = suite<{ bed: Bed; s3cmd: Run }>('s3cmd');
const at = (key: string) => `s3://${BUCKET}/${key}`;

test.before(async (context) => {
  const bed = await startBed();
  context.bed = bed;
  context.s3cmd = async (...args) => {
    const { status, stdout, stderr } = await bed.clients.s3cmd(args);
    assert.is(status, 0, `${stderr}\n${stdout}`);
    assert.not.match(stderr, /ERROR|MD5|corrupt|retry/i, 's3cmd reports damage');
    return stdout;
  };
});

test.after(async ({ bed }) => {
  await bed?.stop();
});

test('put and get, small, empty and in parts', async ({ bed, s3cmd }) => {
  for (const [file, bytes] of [
    ['small', 1234],
    ['none', 0],
    ['large', 23 * MiB + 1],
  ] as const) {
    bed.file(file, bytes);
    await s3cmd('put', '--multipart-chunk-size-mb=5', file, at(`put/${file}`));
    await s3cmd('get', at(`put/${file}`), `${file}.back`);
    assert.is(bed.digest(`${file}.back`), bed.digest(file), file);
    assert.match(await s3cmd('ls', at(`put/${file}`)), new RegExp(` ${bytes} +s3://`));
  }
});

test('get goes on where it ended', async ({ bed, s3cmd }) => {
  const body = readFileSync(bed.file('continued', 300_000));
  await s3cmd('put', 'continued', at('continued'));
  rmSync(join(bed.clients.dir, 'continued'));
  await s3cmd('get', at('continued'), 'continued');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(join(bed.clients.dir, 'continued'), body.subarray(0, 123_456));
  await s3cmd('get', '--continue', at('continued'), 'continued');
  assert.ok(readFileSync(join(bed.clients.dir, 'continued')).equals(body));
});

test('headers, metadata and info', async ({ bed, s3cmd }) => {
  bed.file('page', 700);
  const headers = ['--add-header=Cache-Control: max-age=5', '--add-header=x-amz-meta-note: a b'];
  await s3cmd('put', '--mime-type=text/x-page', ...headers, 'page', at('page'));
  const head = await bed.client.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'page' }));
  assert.equal(
    [head.ContentType, head.CacheControl, head.Metadata?.note],
    ['text/x-page', 'max-age=5', 'a b'],
  );
  const info = await s3cmd('info', at('page'));
  assert.match(info, /File size: 700\n/);
  assert.match(info, /MIME type: text\/x-page\n/);
  await s3cmd('modify', '--add-header=Cache-Control: no-store', at('page'));
  const changed = await bed.client.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'page' }));
  assert.is(changed.CacheControl, 'no-store');
  assert.is((await changed.Body?.transformToByteArray())?.length, 700);
});

test('sync up and down; nothing to do the second time', async ({ bed, s3cmd }) => {
  writeTree(bed, 'tree');
  await s3cmd('sync', '--multipart-chunk-size-mb=5', 'tree/', at('tree/'));
  const sizes = [...(await list(bed.client, 'tree/'))].map(([key, { Size }]) => [key.slice(5), Size]);
  assert.equal(Object.fromEntries(sizes), TREE);
  await s3cmd('sync', at('tree/'), 'tree-back/');
  assert.equal(readTree(bed, 'tree-back'), readTree(bed, 'tree'));
  assert.not.match(await s3cmd('sync', '--multipart-chunk-size-mb=5', 'tree/', at('tree/')), /upload:/);
  assert.not.match(await s3cmd('sync', at('tree/'), 'tree-back/'), /download:/);
  bed.file('tree/a.txt', 10);
  rmSync(join(bed.clients.dir, 'tree', 'empty'));
  await s3cmd('sync', '--delete-removed', 'tree/', at('tree/'));
  await s3cmd('sync', '--delete-removed', at('tree/'), 'tree-back/');
  assert.equal(readTree(bed, 'tree-back'), readTree(bed, 'tree'));
});

test('cp and mv, small and in parts', async ({ bed, s3cmd }) => {
  for (const [file, bytes] of [
    ['moved', 5000],
    ['moved-large', 16 * MiB],
  ] as const) {
    bed.file(file, bytes);
    await s3cmd('put', '--multipart-chunk-size-mb=5', file, at(`mv/${file}`));
    await s3cmd('cp', at(`mv/${file}`), at(`mv/${file} copied`));
    await s3cmd('mv', at(`mv/${file}`), at(`mv/${file}, new & gone`));
    const names = [...(await list(bed.client, `mv/${file}`)).keys()];
    for (const name of [`mv/${file} copied`, `mv/${file}, new & gone`]) {
      assert.ok(names.includes(name), name);
      await s3cmd('get', '--force', at(name), 'fetched');
      assert.is(bed.digest('fetched'), bed.digest(file), name);
    }
    assert.not.ok(names.includes(`mv/${file}`));
  }
});

test('odd names: synchronised both ways, copied, removed', async ({ bed, s3cmd }) => {
  writeTree(bed, 'odd', ODD_TREE);
  await s3cmd('sync', 'odd/', at('odd/'));
  const shown = [...(await list(bed.client, 'odd/'))].map(([key, { Size }]) => [key.slice(4), Size]);
  assert.equal(Object.fromEntries(shown), ODD_TREE);
  await s3cmd('cp', '--recursive', at('odd/'), at('odd copied/'));
  await s3cmd('sync', at('odd copied/'), 'odd-back/');
  assert.equal(readTree(bed, 'odd-back'), readTree(bed, 'odd'));
  await s3cmd('del', '--recursive', '--force', at('odd/'));
  assert.is((await list(bed.client, 'odd/')).size, 0);
});

test('a key of 1,024 bytes, and one that begins with a slash', async ({ bed, s3cmd }) => {
  bed.file('named', 3000);
  for (const key of [LONGEST_KEY, '/slash']) {
    await s3cmd('put', 'named', at(key));
    await s3cmd('get', '--force', at(key), 'named.back');
    assert.is(bed.digest('named.back'), bed.digest('named'), key);
  }
  await s3cmd('del', at('/slash'));
});

test('del, du, la, signurl', async ({ bed, s3cmd }) => {
  writeTree(bed, 'doomed', { one: 10, two: 20, 'sub/three': 30 });
  await s3cmd('put', '--recursive', 'doomed/', at('doomed/'));
  assert.match(await s3cmd('du', at('doomed/')), /^\s*60\s+3 objects/);
  assert.not.match(await s3cmd('la', '--recursive'), /\.svc/);
  const url = (await s3cmd('signurl', at('doomed/two'), '+600')).trim();
  const answer = await fetch(url);
  assert.is(answer.status, 200, url);
  assert.is((await answer.arrayBuffer()).byteLength, 20);
  await s3cmd('del', at('doomed/one'));
  await s3cmd('del', '--recursive', '--force', at('doomed/'));
  assert.is((await list(bed.client, 'doomed')).size, 0);
});

test('uploads in parts are listed and aborted', async ({ bed, s3cmd }) => {
  const { CreateMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  const upload = await bed.client.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: 'begun' }));
  const id = upload.UploadId ?? '';
  assert.ok((await s3cmd('multipart', `s3://${BUCKET}`)).includes(id));
  await s3cmd('abortmp', at('begun'), id);
  assert.not.ok((await s3cmd('multipart', `s3://${BUCKET}`)).includes(id));
});

test('the store holds ciphertext only', ({ bed }) => auditStore(bed));

test.run();
