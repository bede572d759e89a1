import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { suite, type Test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditStore, list } from './audit.ts';
import { type Bed, BUCKET, failed, MiB, ok, sha256, startBed } from './bed.ts';
import { LONGEST_KEY } from './odd-keys.ts';
import { ODD_TREE, readTree, TREE, writeTree } from './trees.ts';

/** Uploads and downloads in parts of 5 MiB. */
const CONFIG = '[default]\ns3 =\n  multipart_threshold = 5MB\n  multipart_chunksize = 5MB\n';

type Run = (...args: string[]) => Promise<string>;
type Name = 'aws' | 'awsV1';
type AwsSuite = Test<{ bed: Bed; s3: Run; api: Run; refused: Run }>;

/**
 * Drives the proxy with one of the AWS CLIs: Debian's of version 2 signs and checks as clients did in 2022, the
 * current one of version 1 as they do today.
 * @param extent each command starts Python anew; what other clients hold as well is left to the long run
 */
export function runAwsCli(name: Name, extent: 'common' | 'all'): void {
  const test: AwsSuite = suite(`AWS CLI, ${name}`);

  test.before(async (context) => {
    const bed = await startBed();
    context.bed = bed;
    const run = bed.clients[name];
    context.s3 = async (...args) => ok(await run(['s3', ...args]));
    context.api = async (command, ...args) => ok(await run(['s3api', command, '--bucket', BUCKET, ...args]));
    context.refused = async (command, ...args) =>
      failed(await run(['s3api', command, '--bucket', BUCKET, ...args]));
    writeFileSync(join(bed.clients.dir, 'aws-config'), CONFIG);
  });

  test.after(async ({ bed }) => {
    await bed?.stop();
  });

  declareCommon(test);
  if (extent === 'all') declareMore(test, name);

  test('the store holds ciphertext only', ({ bed }) => auditStore(bed));

  test.run();
}

function declareCommon(test: AwsSuite): void {
  test('cp up and down, small, empty and in parts', async ({ bed, s3 }) => {
    for (const [file, bytes] of [
      ['small', 1000],
      ['none', 0],
      ['large', 21 * MiB + 3],
    ] as const) {
      bed.file(file, bytes);
      await s3('cp', file, `s3://${BUCKET}/cp/${file}`);
      await s3('cp', `s3://${BUCKET}/cp/${file}`, `${file}.back`);
      assert.is(bed.digest(`${file}.back`), bed.digest(file), file);
    }
    assert.match(await s3('ls', `s3://${BUCKET}/cp/`), / 22020099 large\n.* 0 none\n.* 1000 small\n/);
  });

  test('sync up, sync down, again without work, and with deletion', async ({ bed, s3 }) => {
    writeTree(bed, 'tree');
    await s3('sync', 'tree', `s3://${BUCKET}/tree`);
    const shown = await list(bed.client, 'tree/');
    const sizes = Object.fromEntries([...shown].map(([key, { Size }]) => [key.slice('tree/'.length), Size]));
    assert.equal(sizes, TREE);
    await s3('sync', `s3://${BUCKET}/tree`, 'tree-back');
    assert.equal(readTree(bed, 'tree-back'), readTree(bed, 'tree'));
    assert.is(await s3('sync', 'tree', `s3://${BUCKET}/tree`), '', 'sizes or times look changed');
    assert.is(await s3('sync', `s3://${BUCKET}/tree`, 'tree-back', '--exact-timestamps'), '');
    rmSync(join(bed.clients.dir, 'tree', 'a.txt'));
    writeFileSync(join(bed.clients.dir, 'tree', 'empty'), `${bed.marker} no more`);
    await s3('sync', 'tree', `s3://${BUCKET}/tree`, '--delete');
    await s3('sync', `s3://${BUCKET}/tree`, 'tree-back', '--delete');
    assert.equal(readTree(bed, 'tree-back'), readTree(bed, 'tree'));
  });

  test('rm removes one and many; ls sums up', async ({ bed, s3 }) => {
    writeTree(bed, 'doomed', { one: 1, two: 2, 'sub/three': 3 });
    await s3('cp', '--recursive', 'doomed', `s3://${BUCKET}/doomed`);
    const listed = await s3('ls', '--recursive', '--summarize', `s3://${BUCKET}/doomed/`);
    assert.match(listed, /Total Objects: 3\s+Total Size: 6\b/);
    await s3('rm', `s3://${BUCKET}/doomed/one`);
    await s3('rm', '--recursive', `s3://${BUCKET}/doomed`);
    assert.is((await list(bed.client, 'doomed')).size, 0);
    assert.not.match(await s3('ls', `s3://${BUCKET}/`), /\.svc/);
    assert.not.match(await s3('ls', '--recursive', `s3://${BUCKET}`), /\.svc/);
  });

  test('s3api: ranges, conditions, checksums', async ({ bed, api, refused }) => {
    const body = readFileSync(bed.file('object', 9000));
    const put = JSON.parse(await api('put-object', '--key', 'api', '--body', 'object'));
    const head = JSON.parse(await api('head-object', '--key', 'api'));
    assert.is(head.ETag, put.ETag);
    assert.is(head.ContentLength, 9000);
    const got = JSON.parse(await api('get-object', '--key', 'api', '--range', 'bytes=10-19', 'slice'));
    assert.is(got.ContentRange, 'bytes 10-19/9000');
    assert.ok(readFileSync(join(bed.clients.dir, 'slice')).equals(body.subarray(10, 20)));
    assert.match(await refused('get-object', '--key', 'api', '--if-none-match', put.ETag, 'no'), /304/);
    const md5 = Buffer.alloc(16).toString('base64');
    bed.file('other', 9001);
    assert.match(
      await refused('put-object', '--key', 'api', '--body', 'other', '--content-md5', md5),
      /BadDigest/,
    );
    const { Contents } = JSON.parse(await api('list-objects-v2', '--prefix', 'api'));
    assert.equal([Contents[0].Size, Contents[0].ETag], [9000, put.ETag], 'the other was not written');
    const checked = ['--checksum-algorithm', 'SHA256'];
    const sum = JSON.parse(await api('put-object', '--key', 'summed', '--body', 'object', ...checked));
    assert.match(sum.ChecksumSHA256, /=$/);
    await api('get-object', '--key', 'summed', '--checksum-mode', 'ENABLED', 'summed');
    assert.is(bed.digest('summed'), bed.digest('object'));
  });
}

function declareMore(test: AwsSuite, name: Name): void {
  test('s3api: conditions and ranges that do not hold', async ({ bed, api, refused }) => {
    bed.file('held', 9000);
    await api('put-object', '--key', 'held', '--body', 'held');
    const get = ['get-object', '--key', 'held'] as const;
    assert.match(await refused(...get, '--if-match', '"x"', 'no'), /PreconditionFailed/);
    assert.match(await refused(...get, '--range', 'bytes=9000-', 'no'), /InvalidRange/);
  });

  test('cp from standard input and to standard output', async ({ bed, s3 }) => {
    const input = `${bed.marker} through pipes`;
    ok(await bed.clients[name](['s3', 'cp', '-', `s3://${BUCKET}/piped`], { input }));
    assert.is(await s3('cp', `s3://${BUCKET}/piped`, '-'), input);
    const long = bed.payload(12 * MiB);
    ok(await bed.clients[name](['s3', 'cp', '-', `s3://${BUCKET}/piped-long`], { input: long }));
    await s3('cp', `s3://${BUCKET}/piped-long`, 'piped-long');
    assert.ok(readFileSync(join(bed.clients.dir, 'piped-long')).equals(long));
  });

  test('cp keeps headers and metadata', async ({ s3, bed }) => {
    bed.file('page', 500);
    const headers = [
      '--content-type',
      'text/x-page',
      '--cache-control',
      'max-age=9',
      '--content-encoding',
      'gzip',
    ];
    const more = ['--content-disposition', 'inline; filename="p q"', '--metadata', 'one=1,two=zwei'];
    await s3('cp', 'page', `s3://${BUCKET}/page`, ...headers, ...more);
    await s3('cp', `s3://${BUCKET}/page`, `s3://${BUCKET}/page-copy`);
    for (const Key of ['page', 'page-copy']) {
      const head = await bed.client.send(new HeadObjectCommand({ Bucket: BUCKET, Key }));
      assert.is(head.ContentType, 'text/x-page');
      assert.is(head.CacheControl, 'max-age=9');
      assert.is(head.ContentEncoding, 'gzip');
      assert.is(head.ContentDisposition, 'inline; filename="p q"');
      assert.is(head.Metadata?.one, '1');
      assert.is(head.Metadata?.two, 'zwei');
      assert.is(head.ContentLength, 500);
    }
  });

  test('mv renames, small and in parts, and moves up and down', async ({ bed, s3 }) => {
    for (const [file, bytes] of [
      ['move-me', 3000],
      ['move-much', 17 * MiB],
    ] as const) {
      bed.file(file, bytes);
      const digest = bed.digest(file);
      await s3('mv', file, `s3://${BUCKET}/mv/${file}`);
      await s3('mv', `s3://${BUCKET}/mv/${file}`, `s3://${BUCKET}/mv/new name ${file}`);
      await s3('mv', `s3://${BUCKET}/mv/new name ${file}`, `${file}.moved`);
      assert.is(bed.digest(`${file}.moved`), digest, file);
    }
    assert.is((await list(bed.client, 'mv/')).size, 0);
  });

  test('odd keys: synchronised both ways, copied beside, signed, removed', async ({ bed, s3 }) => {
    writeTree(bed, 'odd', ODD_TREE);
    await s3('sync', 'odd', `s3://${BUCKET}/odd`);
    const shown = [...(await list(bed.client, 'odd/'))].map(([key, { Size }]) => [key.slice(4), Size]);
    assert.equal(Object.fromEntries(shown), ODD_TREE);
    await s3('sync', `s3://${BUCKET}/odd`, `s3://${BUCKET}/odd-copy`);
    await s3('sync', `s3://${BUCKET}/odd-copy`, 'odd-back');
    assert.equal(readTree(bed, 'odd-back'), readTree(bed, 'odd'));
    const url = (await s3('presign', `s3://${BUCKET}/odd/w/ä +&%?=é`)).trim();
    const answer = await fetch(url);
    assert.is(sha256(Buffer.from(await answer.arrayBuffer())), bed.digest('odd/w/ä +&%?=é'), url);
    await s3('rm', '--recursive', `s3://${BUCKET}/odd`);
    assert.is((await list(bed.client, 'odd/')).size, 0);
  });

  test('a key of 1,024 bytes, and one that begins with a slash', async ({ bed, s3 }) => {
    bed.file('named', 3000);
    for (const key of [LONGEST_KEY, '/slash']) {
      await s3('cp', 'named', `s3://${BUCKET}/${key}`);
      await s3('cp', `s3://${BUCKET}/${key}`, 'named.back');
      assert.is(bed.digest('named.back'), bed.digest('named'), key);
    }
    await s3('rm', `s3://${BUCKET}//slash`);
  });

  test('s3api: copies and deletes many', async ({ bed, api }) => {
    bed.file('original', 2500);
    await api('put-object', '--key', 'original', '--body', 'original', '--content-type', 'text/o');
    await api('copy-object', '--key', 'original 2', '--copy-source', `${BUCKET}/original`);
    const got = JSON.parse(await api('get-object', '--key', 'original 2', 'original 2'));
    assert.is(got.ContentType, 'text/o');
    assert.is(bed.digest('original 2'), bed.digest('original'));
    const doomed = { Objects: [{ Key: 'original' }, { Key: 'original 2' }] };
    const { Deleted, Errors } = JSON.parse(await api('delete-objects', '--delete', JSON.stringify(doomed)));
    assert.equal([Deleted.length, Errors ?? []], [2, []]);
    assert.is((await list(bed.client, 'original')).size, 0);
  });

  if (name === 'awsV1') {
    test('s3api: a PUT that must not overwrite', async ({ bed, api, refused }) => {
      bed.file('first', 100);
      bed.file('second', 200);
      const once = ['--key', 'once', '--if-none-match', '*'];
      await api('put-object', ...once, '--body', 'first');
      assert.match(await refused('put-object', ...once, '--body', 'second'), /PreconditionFailed/);
      assert.is(JSON.parse(await api('head-object', '--key', 'once')).ContentLength, 100);
    });
  }
}
