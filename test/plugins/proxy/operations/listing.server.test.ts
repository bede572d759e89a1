import {
  DeleteObjectCommand,
  GetObjectAttributesCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { concurrently } from '../../../../src/runtime/lifecycle/wait.ts';
import { type Bench, startBench, type TestProxy } from '../../../objects/read/support/bench.ts';

const test = suite('listings');

let bench: Bench;
let proxy: TestProxy;

test.before(async () => {
  bench = await startBench({ versioning: true });
  proxy = await bench.proxy();
});
test.after(() => bench.stop());

const put = (Bucket: string, Key: string, Body: string | Buffer) =>
  proxy.client.send(new PutObjectCommand({ Bucket, Key, Body }));

const headsSeen = () => bench.log.matching('HEAD', /./).length;

test('a thousand objects have plaintext sizes, and are asked about once', async () => {
  const Bucket = 'thousand';
  await bench.store.createBucket(Bucket);
  const sizes = Array.from({ length: 1000 }, (_, index) => index);
  await concurrently(sizes, 16, (size) =>
    put(Bucket, `o${String(size).padStart(4, '0')}`, Buffer.alloc(size)),
  );
  bench.log.clear();
  const first = await proxy.client.send(new ListObjectsV2Command({ Bucket }));
  assert.is(first.KeyCount, 1000);
  assert.equal(
    first.Contents?.map(({ Size }) => Size),
    sizes,
  );
  assert.is(headsSeen(), 1000);
  bench.log.clear();
  const second = await proxy.client.send(new ListObjectsV2Command({ Bucket }));
  assert.equal(second.Contents, first.Contents);
  assert.is(headsSeen(), 0);
  assert.is(bench.log.requests.length, 1);
});

test('an object that was overwritten is asked about again', async () => {
  const Bucket = 'overwritten';
  await bench.store.createBucket(Bucket);
  const listed = async () =>
    (await proxy.client.send(new ListObjectsCommand({ Bucket }))).Contents?.[0]?.Size;
  await put(Bucket, 'k', 'one');
  assert.is(await listed(), 3);
  await put(Bucket, 'k', 'longer');
  assert.is(await listed(), 6);
});

test('what lies unencrypted beside it keeps its size, and both the ETags that a PUT gave', async () => {
  const Bucket = 'mixed';
  await bench.store.createBucket(Bucket);
  const { ETag } = await put(Bucket, 'encrypted', 'hello');
  await bench.store.client.send(new PutObjectCommand({ Bucket, Key: 'plain', Body: 'hello' }));
  const { Contents } = await proxy.client.send(new ListObjectsV2Command({ Bucket }));
  assert.equal(
    Contents?.map(({ Key, Size }) => [Key, Size]),
    [
      ['encrypted', 5],
      ['plain', 5],
    ],
  );
  assert.is(Contents?.[0]?.ETag, ETag);
  assert.match(Contents?.[1]?.ETag ?? '', /-svc"$/);
});

const odd = [
  'a b',
  'a+b',
  'ä/ö ü',
  'q?a=b&c',
  'per%cent',
  'quote"\'',
  '<tag>&amp;',
  'emoji🙂',
  "paren(s)!*'",
];

test('odd keys come back as they are, encoded or not', async () => {
  const Bucket = 'odd';
  await bench.store.createBucket(Bucket);
  for (const key of odd) await put(Bucket, key, key);
  for (const EncodingType of ['url', undefined] as const) {
    const page = await proxy.client.send(new ListObjectsV2Command({ Bucket, EncodingType }));
    const listed = page.Contents?.map(({ Key = '', Size }) => [plain(Key, page.EncodingType), Size] as const);
    assert.equal(listed?.map(([key]) => key).sort(), [...odd].sort());
    for (const [key, size] of listed ?? []) assert.is(size, Buffer.byteLength(key), key);
  }
});

/** A store that does not know the encoding does not name it either. */
const plain = (key: string, encoding: string | undefined) =>
  encoding === 'url' ? decodeURIComponent(key.replaceAll('+', ' ')) : key;

test('reserved keys are hidden from every page and every form of listing', async () => {
  const Bucket = 'hiding';
  await bench.store.createBucket(Bucket, { versioning: true });
  const records = Array.from({ length: 30 }, (_, index) => `.svc/uploads/${String(index).padStart(2, '0')}`);
  for (const Key of records) await bench.store.client.send(new PutObjectCommand({ Bucket, Key, Body: '' }));
  for (const key of ['!first', 'a', 'b', 'dir/c']) await put(Bucket, key, 'x');

  const expected = ['!first', 'a', 'b', 'dir/c'];
  const v2: string[] = [];
  let pages = 0;
  let ContinuationToken: string | undefined;
  do {
    const page = await proxy.client.send(new ListObjectsV2Command({ Bucket, MaxKeys: 2, ContinuationToken }));
    assert.is(page.KeyCount, page.Contents?.length ?? 0);
    v2.push(...(page.Contents ?? []).map(({ Key = '' }) => Key));
    ContinuationToken = page.NextContinuationToken;
    pages++;
  } while (ContinuationToken);
  assert.equal(v2, expected);
  assert.ok(pages <= 5, `${pages} pages for four keys`);

  const v1: string[] = [];
  let Marker: string | undefined;
  for (;;) {
    const page = await proxy.client.send(new ListObjectsCommand({ Bucket, MaxKeys: 2, Marker }));
    v1.push(...(page.Contents ?? []).map(({ Key = '' }) => Key));
    if (!page.IsTruncated) break;
    Marker = page.NextMarker ?? page.Contents?.at(-1)?.Key;
    assert.ok(Marker, 'a truncated page says where to go on');
  }
  assert.equal(v1, expected);

  const folded = await proxy.client.send(new ListObjectsV2Command({ Bucket, Delimiter: '/' }));
  assert.equal(
    folded.CommonPrefixes?.map(({ Prefix }) => Prefix),
    ['dir/'],
  );
  const inside = await proxy.client.send(new ListObjectsV2Command({ Bucket, Prefix: '.svc/', MaxKeys: 5 }));
  assert.is(inside.KeyCount, 0);
  assert.not.ok(inside.IsTruncated);
  assert.is(inside.StartAfter, undefined);

  const versions = await proxy.client.send(new ListObjectVersionsCommand({ Bucket }));
  assert.equal(
    versions.Versions?.map(({ Key }) => Key),
    expected,
  );
});

test('versions have plaintext sizes of their own', async () => {
  const Bucket = 'versioned';
  await bench.store.createBucket(Bucket, { versioning: true });
  await put(Bucket, 'k', 'one');
  await put(Bucket, 'k', 'longer');
  await proxy.client.send(new DeleteObjectCommand({ Bucket, Key: 'k' }));
  const { Versions, DeleteMarkers } = await proxy.client.send(new ListObjectVersionsCommand({ Bucket }));
  assert.equal(Versions?.map(({ Size }) => Size).sort(), [3, 6]);
  assert.is(DeleteMarkers?.length, 1);
});

test('where everything is of one format no object is asked about', async () => {
  const denying = await bench.proxy({ listSizes: 'format-1' });
  bench.log.clear();
  const { Contents } = await denying.client.send(
    new ListObjectsV2Command({ Bucket: 'thousand', MaxKeys: 20 }),
  );
  assert.equal(
    Contents?.map(({ Size }) => Size),
    Array.from({ length: 20 }, (_, index) => index),
  );
  assert.is(headsSeen(), 0);
});

test('stored sizes are shown where they are wanted', async () => {
  const storing = await bench.proxy({ listSizes: 'stored' });
  const { Contents } = await storing.client.send(
    new ListObjectsV2Command({ Bucket: 'thousand', MaxKeys: 2 }),
  );
  assert.equal(
    Contents?.map(({ Size }) => Size),
    [28, 29],
  );
});

test('attributes are of the plaintext', async () => {
  const { ETag } = await put('mixed', 'attributes', 'hello');
  const attributes = await proxy.client.send(
    new GetObjectAttributesCommand({
      Bucket: 'mixed',
      Key: 'attributes',
      ObjectAttributes: ['ETag', 'ObjectSize', 'Checksum', 'StorageClass'],
    }),
  );
  assert.is(attributes.ObjectSize, 5);
  assert.is(attributes.ETag, ETag?.replaceAll('"', ''));
  assert.equal(attributes.Checksum, { ChecksumCRC32: 'NhCmhg==', ChecksumType: 'FULL_OBJECT' });
});

test("the store's refusal comes through", async () => {
  const failure = await proxy.client.send(new ListObjectsV2Command({ Bucket: 'no-such-bucket' })).then(
    () => undefined,
    (error: Error) => error.name,
  );
  assert.is(failure, 'NoSuchBucket');
});

test.run();
