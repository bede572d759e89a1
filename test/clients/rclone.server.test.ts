import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { auditStore, list } from './audit.ts';
import { type Bed, BUCKET, failed, MiB, ok, sha256, startBed } from './bed.ts';
import { LONGEST_KEY } from './odd-keys.ts';
import { ODD_TREE, readTree, TREE, writeTree } from './trees.ts';

type Run = (...args: string[]) => Promise<string>;
const test = suite<{ bed: Bed; rclone: Run }>('rclone');
const at = (key: string) => `svc:${BUCKET}/${key}`;
/** Uploads and copies in parts of 5 MiB. */
const IN_PARTS = ['--s3-chunk-size=5Mi', '--s3-upload-cutoff=5Mi'];

test.before(async (context) => {
  const bed = await startBed();
  context.bed = bed;
  context.rclone = async (...args) => {
    const result = await bed.clients.rclone(args);
    assert.not.match(result.stderr, /corrupted|hash differ|sizes differ|ERROR/i, args.join(' '));
    return ok(result);
  };
});

test.after(async ({ bed }) => {
  await bed?.stop();
});

for (const [name, flags] of Object.entries({ 'at once': [], 'in parts': IN_PARTS })) {
  test(`copies and checks both ways, ${name}`, async ({ bed, rclone }) => {
    const folder = `tree ${name}`;
    writeTree(bed, folder);
    await rclone('copy', ...flags, folder, at(folder));
    const sizes = [...(await list(bed.client, `${folder}/`))].map(([key, { Size }]) => [
      key.slice(folder.length + 1),
      Size,
    ]);
    assert.equal(Object.fromEntries(sizes), TREE);
    await rclone('check', folder, at(folder));
    await rclone('check', '--download', folder, at(folder));
    await rclone('copy', at(folder), `${folder} back`);
    assert.equal(readTree(bed, `${folder} back`), readTree(bed, folder));
  });
}

test('check sees what differs', async ({ bed, rclone }) => {
  writeTree(bed, 'differs', { one: 100, two: 200 });
  await rclone('copy', 'differs', at('differs'));
  bed.file('differs/two', 201);
  assert.match(failed(await bed.clients.rclone(['check', 'differs', at('differs')])), /1 differences found/);
});

test('sync transfers what changed and deletes what is gone', async ({ bed, rclone }) => {
  writeTree(bed, 'synced', { keep: 1000, change: 2000, 'sub/gone': 3000 });
  await rclone('sync', 'synced', at('synced'));
  bed.log.clear();
  await rclone('sync', 'synced', at('synced'));
  assert.is(bed.log.matching('PUT', /synced/).length, 0, 'transferred again');
  bed.file('synced/change', 2001);
  rmSync(join(bed.clients.dir, 'synced', 'sub', 'gone'));
  await rclone('sync', 'synced', at('synced'));
  await rclone('sync', at('synced'), 'synced back');
  assert.equal(readTree(bed, 'synced back'), readTree(bed, 'synced'));
});

test('moveto and copyto rename on the store, small and in parts', async ({ bed, rclone }) => {
  for (const [file, bytes] of [
    ['name', 4000],
    ['name-large', 18 * MiB],
  ] as const) {
    bed.file(file, bytes);
    await rclone('copyto', ...IN_PARTS, file, at(`mv/${file}`));
    await rclone('copyto', at(`mv/${file}`), at(`mv/${file} copied`));
    await rclone('moveto', at(`mv/${file}`), at(`mv/ä ${file}+new`));
    await rclone('moveto', '--s3-copy-cutoff=5Mi', at(`mv/ä ${file}+new`), at(`mv/${file}-last`));
    const names = [...(await list(bed.client, 'mv/')).keys()].filter((key) => key.includes(file));
    for (const name of [`${file} copied`, `${file}-last`]) {
      assert.ok(names.includes(`mv/${name}`), name);
      await rclone('copyto', at(`mv/${name}`), 'fetched');
      assert.is(bed.digest('fetched'), bed.digest(file), name);
    }
    assert.not.ok(names.includes(`mv/${file}`));
    assert.not.ok(names.includes(`mv/ä ${file}+new`));
  }
});

test('streams in and out, in slices too', async ({ bed, rclone }) => {
  const input = bed.payload(14 * MiB);
  ok(await bed.clients.rclone(['rcat', ...IN_PARTS, at('streamed')], { input }));
  await rclone('copyto', at('streamed'), 'streamed');
  assert.ok(input.equals((await import('node:fs')).readFileSync(join(bed.clients.dir, 'streamed'))));
  const slice = await rclone('cat', '--offset', '4096', '--count', String(bed.marker.length), at('streamed'));
  assert.is(slice, bed.marker);
});

test('odd names: synchronised both ways, listed, copied on the store', async ({ bed, rclone }) => {
  writeTree(bed, 'odd', ODD_TREE);
  await rclone('sync', 'odd', at('odd'));
  const shown = [...(await list(bed.client, 'odd/'))].map(([key, { Size }]) => [key.slice(4), Size]);
  assert.equal(Object.fromEntries(shown), ODD_TREE);
  const listed: { Path: string; Size: number }[] = JSON.parse(
    await rclone('lsjson', '-R', '--files-only', at('odd')),
  );
  assert.equal(Object.fromEntries(listed.map(({ Path, Size }) => [Path, Size])), ODD_TREE);
  await rclone('copy', at('odd'), at('odd copied'));
  await rclone('sync', at('odd copied'), 'odd back');
  assert.equal(readTree(bed, 'odd back'), readTree(bed, 'odd'));
});

test('a key of 1,024 bytes', async ({ bed, rclone }) => {
  bed.file('named', 3000);
  await rclone('copyto', 'named', at(LONGEST_KEY));
  await rclone('copyto', at(LONGEST_KEY), 'named back');
  assert.is(bed.digest('named back'), bed.digest('named'));
});

test('a link that anybody may follow', async ({ bed, rclone }) => {
  bed.file('linked', 5000);
  await rclone('copyto', 'linked', at('linked ä+'));
  const url = (await rclone('link', '--expire', '10m', at('linked ä+'))).trim();
  const answer = await fetch(url);
  assert.is(answer.status, 200, url);
  assert.is(sha256(Buffer.from(await answer.arrayBuffer())), bed.digest('linked'));
});

test('headers and the time of a file', async ({ bed, rclone }) => {
  bed.file('page', 90);
  const headers = [
    '--header-upload',
    'Cache-Control: max-age=3',
    '--header-upload',
    'Content-Type: text/x-page',
  ];
  await rclone('copyto', ...headers, 'page', at('page'));
  const head = await bed.client.send(new HeadObjectCommand({ Bucket: BUCKET, Key: 'page' }));
  assert.equal([head.CacheControl, head.ContentType], ['max-age=3', 'text/x-page']);
  assert.match(head.Metadata?.mtime ?? '', /^\d+\.\d+$/);
});

test('deletes one and all; helper objects do not show', async ({ bed, rclone }) => {
  writeTree(bed, 'doomed', { one: 1, two: 2, 'sub/three': 3 });
  await rclone('copy', 'doomed', at('doomed'));
  assert.match(await rclone('size', at('doomed')), /Total objects: 3 .*\n.*Total size: 6 B/);
  await rclone('deletefile', at('doomed/one'));
  await rclone('purge', at('doomed'));
  assert.is((await list(bed.client, 'doomed')).size, 0);
  assert.not.match(await rclone('lsf', '-R', `svc:${BUCKET}`), /\.svc/);
});

test('the store holds ciphertext only', ({ bed }) => auditStore(bed));

test.run();
