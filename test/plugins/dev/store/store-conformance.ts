import { createHash, randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  type GetObjectCommandInput,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  PutObjectTaggingCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { s3Client } from '../../../support/object-store.ts';
import type { S3Target } from '../../../support/types.ts';

export interface StoreUnderTest extends S3Target {
  stop(): Promise<void>;
}

interface Context {
  store: StoreUnderTest;
  s3: S3Client;
}

const Bucket = 'box';
const MiB = 1024 ** 2;
const md5 = (data: Buffer | string) => createHash('md5').update(data).digest('hex');

/** What the development store and a real one have in common, seen through the AWS SDK. */
export function storeConformance(name: string, start: () => Promise<StoreUnderTest>): void {
  const test = suite<Context>(`S3 of ${name}`);

  test.before(async (context) => {
    context.store = await start();
    context.s3 = await s3Client(context.store);
    await context.s3.send(new CreateBucketCommand({ Bucket }));
  });
  test.after(async ({ store, s3 }) => {
    s3?.destroy();
    await store?.stop();
  });

  const put = (s3: S3Client, Key: string, Body: Buffer | string, more: Partial<PutObjectCommandInput> = {}) =>
    s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
  const get = async (s3: S3Client, Key: string, more: Partial<GetObjectCommandInput> = {}) => {
    const answer = await s3.send(new GetObjectCommand({ Bucket, Key, ...more }));
    return { ...answer, body: Buffer.from((await answer.Body?.transformToByteArray()) ?? []) };
  };

  test('buckets are made, found, listed and removed when empty', async ({ s3 }) => {
    await s3.send(new CreateBucketCommand({ Bucket: 'other' }));
    await s3.send(new HeadBucketCommand({ Bucket: 'other' }));
    const names = (await s3.send(new ListBucketsCommand({}))).Buckets?.map((bucket) => bucket.Name);
    assert.equal(names, ['box', 'other']);
    await s3.send(new PutObjectCommand({ Bucket: 'other', Key: 'k', Body: 'x' }));
    await fails(s3.send(new DeleteBucketCommand({ Bucket: 'other' })), 409, 'BucketNotEmpty');
    await s3.send(new DeleteObjectCommand({ Bucket: 'other', Key: 'k' }));
    await s3.send(new DeleteBucketCommand({ Bucket: 'other' }));
    await fails(s3.send(new HeadBucketCommand({ Bucket: 'other' })), 404);
    await fails(s3.send(new PutObjectCommand({ Bucket: 'other', Key: 'k' })), 404, 'NoSuchBucket');
    const versioning = await s3.send(new GetBucketVersioningCommand({ Bucket }));
    assert.is(versioning.Status, undefined);
  });

  test('an object is read as it was written, with what describes it', async ({ s3 }) => {
    const body = randomBytes(300_000);
    const described = { ContentType: 'text/x-test', CacheControl: 'max-age=7', Metadata: { a: 'b' } };
    const { ETag } = await put(s3, 'plain', body, described);
    assert.is(ETag, `"${md5(body)}"`);
    const read = await get(s3, 'plain');
    assert.ok(read.body.equals(body));
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'plain' }));
    for (const answer of [read, head]) {
      assert.is(answer.ETag, ETag);
      assert.is(answer.ContentLength, body.length);
      assert.is(answer.ContentType, 'text/x-test');
      assert.is(answer.CacheControl, 'max-age=7');
      assert.equal(answer.Metadata, { a: 'b' });
      assert.ok(Date.now() - Number(answer.LastModified) < 60_000);
    }
    await fails(get(s3, 'absent'), 404, 'NoSuchKey');
  });

  test('an empty object, and keys that need encoding', async ({ s3 }) => {
    for (const key of ['empty', 'w/ä +&%?=é/x', 'a//b', "quote'(1)*!", '日本/\u{1f600}']) {
      await put(s3, key, key === 'empty' ? '' : key);
      assert.is((await get(s3, key)).body.toString(), key === 'empty' ? '' : key);
    }
  });

  test('ranges, and none that lies outside', async ({ s3 }) => {
    const body = randomBytes(200_000);
    await put(s3, 'ranged', body);
    const cases: [range: string, from: number, to: number][] = [
      ['bytes=0-0', 0, 1],
      ['bytes=70000-140000', 70_000, 140_001],
      ['bytes=199999-', 199_999, 200_000],
      ['bytes=-5', 199_995, 200_000],
      ['bytes=100-999999', 100, 200_000],
    ];
    for (const [Range, from, to] of cases) {
      const answer = await get(s3, 'ranged', { Range });
      assert.ok(answer.body.equals(body.subarray(from, to)), Range);
      assert.is(answer.ContentRange, `bytes ${from}-${to - 1}/200000`);
      assert.is(answer.$metadata.httpStatusCode, 206);
    }
    await fails(get(s3, 'ranged', { Range: 'bytes=200000-' }), 416);
  });

  test('conditions on reads and writes', async ({ s3 }) => {
    const { ETag } = await put(s3, 'conditional', 'one');
    assert.is((await get(s3, 'conditional', { IfMatch: ETag })).body.toString(), 'one');
    await fails(get(s3, 'conditional', { IfMatch: '"0"' }), 412);
    await fails(get(s3, 'conditional', { IfNoneMatch: ETag }), 304);
    await fails(get(s3, 'conditional', { IfUnmodifiedSince: new Date(0) }), 412);
    await fails(put(s3, 'conditional', 'two', { IfNoneMatch: '*' }), 412);
    await fails(put(s3, 'conditional', 'two', { IfMatch: '"0"' }), 412);
    await put(s3, 'conditional', 'two', { IfMatch: ETag });
    await put(s3, 'conditional-new', 'new', { IfNoneMatch: '*' });
    assert.is((await get(s3, 'conditional')).body.toString(), 'two');
  });

  test('user metadata stays within 2 KB', async ({ s3 }) => {
    await put(s3, 'full', 'x', { Metadata: { a: 'm'.repeat(2047) } });
    await fails(put(s3, 'full', 'y', { Metadata: { a: 'm'.repeat(2048) } }), 400, 'MetadataTooLarge');
    assert.is((await get(s3, 'full')).body.toString(), 'x');
  });

  test('a wrong digest stores nothing', async ({ s3 }) => {
    await put(s3, 'digest', 'good');
    await fails(
      put(s3, 'digest', 'bad', { ContentMD5: Buffer.alloc(16).toString('base64') }),
      400,
      'BadDigest',
    );
    await fails(put(s3, 'digest', 'bad', { ChecksumCRC32: 'AAAAAA==' }), 400);
    assert.is((await get(s3, 'digest')).body.toString(), 'good');
  });

  test('listings: prefix, delimiter, pages, both versions', async ({ s3 }) => {
    await s3.send(new CreateBucketCommand({ Bucket: 'lists' }));
    const keys = ['a', 'b/1', 'b/2', 'b/c/3', 'd é+', 'z'];
    for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket: 'lists', Key, Body: Key }));
    const all = await s3.send(new ListObjectsV2Command({ Bucket: 'lists' }));
    assert.equal(
      all.Contents?.map(({ Key }) => Key),
      keys,
    );
    assert.equal([all.KeyCount, all.IsTruncated, all.Contents?.[0]?.Size], [6, false, 1]);
    assert.is(all.Contents?.[0]?.ETag, `"${md5('a')}"`);
    const top = await s3.send(new ListObjectsV2Command({ Bucket: 'lists', Delimiter: '/' }));
    assert.equal(
      top.Contents?.map(({ Key }) => Key),
      ['a', 'd é+', 'z'],
    );
    assert.equal(top.CommonPrefixes, [{ Prefix: 'b/' }]);
    const below = await s3.send(new ListObjectsV2Command({ Bucket: 'lists', Delimiter: '/', Prefix: 'b/' }));
    assert.equal(
      below.Contents?.map(({ Key }) => Key),
      ['b/1', 'b/2'],
    );
    assert.equal(below.CommonPrefixes, [{ Prefix: 'b/c/' }]);
    const after = await s3.send(new ListObjectsV2Command({ Bucket: 'lists', StartAfter: 'b/2' }));
    assert.equal(
      after.Contents?.map(({ Key }) => Key),
      ['b/c/3', 'd é+', 'z'],
    );
    const old = await s3.send(new ListObjectsCommand({ Bucket: 'lists', Delimiter: '/', MaxKeys: 2 }));
    assert.equal([old.IsTruncated, old.NextMarker, old.CommonPrefixes], [true, 'b/', [{ Prefix: 'b/' }]]);
    const rest = await s3.send(new ListObjectsCommand({ Bucket: 'lists', Delimiter: '/', Marker: 'b/' }));
    assert.equal([rest.Contents?.map(({ Key }) => Key), rest.CommonPrefixes], [['d é+', 'z'], undefined]);
    assert.equal(await pages(s3, 'lists', 2), [
      ['a', 'b/1'],
      ['b/2', 'b/c/3'],
      ['d é+', 'z'],
    ]);
    await fails(s3.send(new ListObjectsV2Command({ Bucket: 'nowhere' })), 404, 'NoSuchBucket');
  });

  test('copies keep the metadata or take another, on conditions', async ({ s3 }) => {
    const { ETag } = await put(s3, 'from', 'copied', { Metadata: { a: '1' }, ContentType: 'text/a' });
    const copy = (Key: string, more: object = {}) =>
      s3.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/from`, ...more }));
    assert.is((await copy('to')).CopyObjectResult?.ETag, ETag);
    const kept = await get(s3, 'to');
    assert.equal([kept.body.toString(), kept.Metadata, kept.ContentType], ['copied', { a: '1' }, 'text/a']);
    await copy('from', { MetadataDirective: 'REPLACE', Metadata: { b: '2' }, CopySourceIfMatch: ETag });
    assert.equal((await get(s3, 'from')).Metadata, { b: '2' });
    await fails(copy('to', { CopySourceIfMatch: '"0"' }), 412);
    await fails(copy('from'), 400, 'InvalidRequest');
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'from' }));
    assert.is((await get(s3, 'to')).body.toString(), 'copied');
    await fails(copy('to'), 404, 'NoSuchKey');
  });

  test('deletes one and many, also what is not there', async ({ s3 }) => {
    await put(s3, 'gone/1', 'x');
    await put(s3, 'gone/2', 'x');
    await s3.send(new DeleteObjectCommand({ Bucket, Key: 'gone/none' }));
    const Objects = ['gone/1', 'gone/2', 'gone/3'].map((Key) => ({ Key }));
    const { Deleted, Errors } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    assert.equal(
      Deleted?.map(({ Key }) => Key),
      ['gone/1', 'gone/2', 'gone/3'],
    );
    assert.is(Errors, undefined);
    const left = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'gone/' }));
    assert.is(left.KeyCount, 0);
  });

  test('parts are copied from an object, all of it or a range', async ({ s3 }) => {
    const source = randomBytes(5 * MiB + 100);
    const { ETag } = await put(s3, 'source', source);
    const upload = { Bucket, Key: 'of/copies' };
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand(upload));
    const copy = (PartNumber: number, more: object = {}) =>
      s3.send(
        new UploadPartCopyCommand({
          ...{ ...upload, UploadId, PartNumber, CopySource: `${Bucket}/source`, CopySourceIfMatch: ETag },
          ...more,
        }),
      );
    const whole = (await copy(1)).CopyPartResult?.ETag;
    assert.is(whole, `"${md5(source)}"`);
    const some = (await copy(2, { CopySourceRange: 'bytes=10-1009' })).CopyPartResult?.ETag;
    await fails(copy(3, { CopySourceRange: `bytes=0-${source.length}` }), 400);
    await fails(copy(3, { CopySourceIfMatch: '"0"' }), 412);
    const Parts = [whole, some].map((etag, index) => ({ PartNumber: index + 1, ETag: etag }));
    await s3.send(new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload: { Parts } }));
    assert.ok((await get(s3, upload.Key)).body.equals(Buffer.concat([source, source.subarray(10, 1010)])));
  });

  test('an upload in parts: order, replacement, listing, completion', async ({ s3 }) => {
    const Key = 'multi/part';
    const described = { Metadata: { m: '1' }, ContentType: 'text/parts' };
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ...described }));
    const upload = { Bucket, Key, UploadId };
    const [first, last] = [randomBytes(5 * MiB), randomBytes(1000)] as const;
    const send = (PartNumber: number, Body: Buffer) =>
      s3.send(new UploadPartCommand({ ...upload, PartNumber, Body }));
    await send(7, randomBytes(10));
    const tail = await send(7, last);
    const start = await send(2, first);
    assert.is(start.ETag, `"${md5(first)}"`);
    const listed = await s3.send(new ListPartsCommand(upload));
    assert.equal(
      listed.Parts?.map(({ PartNumber, Size }) => [PartNumber, Size]),
      [
        [2, 5 * MiB],
        [7, 1000],
      ],
    );
    const open = await s3.send(new ListMultipartUploadsCommand({ Bucket }));
    assert.equal(
      open.Uploads?.map((each) => [each.Key, each.UploadId]),
      [[Key, UploadId]],
    );
    const complete = (...Parts: { PartNumber: number; ETag: string | undefined }[]) =>
      s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    const [two, seven] = [
      { PartNumber: 2, ETag: start.ETag },
      { PartNumber: 7, ETag: tail.ETag },
    ];
    await fails(complete(seven, two), 400);
    await fails(complete(two, { ...seven, ETag: start.ETag }), 400, 'InvalidPart');
    const { ETag } = await complete(two, seven);
    const digests = Buffer.from(md5(first) + md5(last), 'hex');
    assert.is(ETag, `"${md5(digests)}-2"`);
    const read = await get(s3, Key);
    assert.ok(read.body.equals(Buffer.concat([first, last])));
    assert.equal([read.ETag, read.Metadata, read.ContentType], [ETag, { m: '1' }, 'text/parts']);
    const across = await get(s3, Key, { Range: `bytes=${5 * MiB - 10}-${5 * MiB + 9}` });
    assert.ok(across.body.equals(Buffer.concat([first.subarray(-10), last.subarray(0, 10)])));
    await fails(s3.send(new ListPartsCommand(upload)), 404, 'NoSuchUpload');
  });

  test('parts that are too small are refused; an upload that is aborted is gone', async ({ s3 }) => {
    const Key = 'aborted';
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const upload = { Bucket, Key, UploadId };
    const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
    for (const PartNumber of [1, 2]) {
      const { ETag } = await s3.send(new UploadPartCommand({ ...upload, PartNumber, Body: 'small' }));
      Parts.push({ PartNumber, ETag });
    }
    const complete = () =>
      s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    await fails(complete(), 400, 'EntityTooSmall');
    await s3.send(new AbortMultipartUploadCommand(upload));
    await fails(complete(), 404, 'NoSuchUpload');
    await fails(s3.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: 'x' })), 404, 'NoSuchUpload');
    await fails(s3.send(new UploadPartCommand({ ...upload, PartNumber: 10_001, Body: 'x' })), 400);
    await fails(get(s3, Key), 404, 'NoSuchKey');
  });

  test('tags', async ({ s3 }) => {
    await put(s3, 'tagged', 'x', { Tagging: 'a=1&b=%C3%A4' });
    // A set: versitygw gives it in any order.
    const tags = async () => {
      const { TagSet = [] } = await s3.send(new GetObjectTaggingCommand({ Bucket, Key: 'tagged' }));
      return TagSet.toSorted((a, b) => ((a.Key ?? '') < (b.Key ?? '') ? -1 : 1));
    };
    assert.equal(await tags(), [
      { Key: 'a', Value: '1' },
      { Key: 'b', Value: 'ä' },
    ]);
    const TagSet = [{ Key: 'c', Value: 'x y/z@1' }];
    await s3.send(new PutObjectTaggingCommand({ Bucket, Key: 'tagged', Tagging: { TagSet } }));
    assert.equal(await tags(), TagSet);
  });

  test('only its own keys get in', async ({ store }) => {
    for (const changed of [{ accessKeyId: 'AKIANOBODY' }, { secretAccessKey: 'wrong' }]) {
      const stranger = await s3Client({ ...store, ...changed });
      await fails(stranger.send(new PutObjectCommand({ Bucket, Key: 'strange', Body: 'x' })), 403);
      stranger.destroy();
    }
  });

  test.run();
}

async function pages(s3: S3Client, Bucket: string, MaxKeys: number): Promise<unknown[]> {
  const found: unknown[] = [];
  let ContinuationToken: string | undefined;
  do {
    const page = await s3.send(new ListObjectsV2Command({ Bucket, MaxKeys, ContinuationToken }));
    found.push(page.Contents?.map(({ Key }) => Key));
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
  return found;
}

async function fails(request: Promise<unknown>, status: number, code?: string): Promise<void> {
  const error = await request.then(
    () => assert.unreachable(`should have been answered ${status}`),
    (reason) => reason,
  );
  assert.is(error.$metadata?.httpStatusCode, status, `${error.name}: ${error.message}`);
  if (code !== undefined) assert.is(error.name, code);
}
