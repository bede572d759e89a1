import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bench, startBench, type TestProxy } from '../../../objects/read/support/bench.ts';

const test = suite('deletions');

let bench: Bench;
let proxy: TestProxy;

test.before(async () => {
  bench = await startBench({ versioning: true });
  proxy = await bench.proxy({ inlineLimit: 0 });
});
test.after(() => bench.stop());

const put = (Bucket: string, Key: string) =>
  proxy.client.send(new PutObjectCommand({ Bucket, Key, Body: 'hello' }));

async function putInParts(Bucket: string, Key: string): Promise<void> {
  const { UploadId } = await proxy.client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const part = { Bucket, Key, UploadId, PartNumber: 1 };
  const { ETag } = await proxy.client.send(new UploadPartCommand({ ...part, Body: 'hello' }));
  const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] };
  await proxy.client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
}

/** Part lists that the store holds. */
async function manifests(Bucket: string): Promise<number> {
  const listing = new ListObjectsV2Command({ Bucket, Prefix: '.svc/manifests/' });
  const { Contents = [] } = await bench.store.client.send(listing);
  return Contents.filter(({ Key }) => !Key?.endsWith('/')).length;
}

async function exists(Bucket: string, Key: string): Promise<boolean> {
  const head = bench.store.client.send(new HeadObjectCommand({ Bucket, Key }));
  return head.then(
    () => true,
    () => false,
  );
}

test('an object goes, and the part list of a multipart one with it', async () => {
  const Bucket = 'single';
  await bench.store.createBucket(Bucket);
  await put(Bucket, 'small');
  await putInParts(Bucket, 'large');
  assert.is(await manifests(Bucket), 1);
  for (const Key of ['small', 'large']) {
    const { $metadata } = await proxy.client.send(new DeleteObjectCommand({ Bucket, Key }));
    assert.is($metadata.httpStatusCode, 204);
    assert.not.ok(await exists(Bucket, Key));
  }
  assert.is(await manifests(Bucket), 0);
});

test('what does not exist can be deleted', async () => {
  const { $metadata } = await proxy.client.send(
    new DeleteObjectCommand({ Bucket: 'single', Key: 'nothing' }),
  );
  assert.is($metadata.httpStatusCode, 204);
});

test('where versions are kept the part list stays, and nobody asks for it', async () => {
  const Bucket = 'versions';
  await bench.store.createBucket(Bucket, { versioning: true });
  await putInParts(Bucket, 'large');
  bench.log.clear();
  await proxy.client.send(new DeleteObjectCommand({ Bucket, Key: 'large' }));
  assert.is(bench.log.matching('HEAD', /./).length, 0);
  assert.is(await manifests(Bucket), 1);
});

test('many objects go at once, with their part lists', async () => {
  const Bucket = 'many';
  await bench.store.createBucket(Bucket);
  const keys = Array.from({ length: 20 }, (_, index) => `k ${index} ä+&`);
  for (const key of keys) await put(Bucket, key);
  for (const key of ['large1', 'large2']) await putInParts(Bucket, key);
  assert.is(await manifests(Bucket), 2);
  const Objects = [...keys, 'large1', 'large2'].map((Key) => ({ Key }));
  const result = await proxy.client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  assert.is(result.Deleted?.length, 22);
  assert.is(result.Errors, undefined);
  for (const key of keys) assert.not.ok(await exists(Bucket, key));
  assert.is(await manifests(Bucket), 0);
});

test('reserved keys among many are refused one by one, and the others go', async () => {
  const Bucket = 'guarded';
  await bench.store.createBucket(Bucket);
  await put(Bucket, 'mine');
  await putInParts(Bucket, 'large');
  const listing = new ListObjectsV2Command({ Bucket, Prefix: '.svc/manifests/' });
  const { Contents = [] } = await bench.store.client.send(listing);
  const reserved = Contents.find(({ Key }) => !Key?.endsWith('/'))?.Key ?? '';
  const Objects = [{ Key: 'mine' }, { Key: reserved }, { Key: `/${reserved}` }, { Key: 'a/../large' }];
  const Delete = { Objects, Quiet: true };
  const result = await proxy.client.send(new DeleteObjectsCommand({ Bucket, Delete }));
  assert.equal(
    result.Errors?.map(({ Key, Code }) => [Key, Code]),
    [
      [reserved, 'AccessDenied'],
      [`/${reserved}`, 'AccessDenied'],
      ['a/../large', 'InvalidURI'],
    ],
  );
  assert.not.ok(await exists(Bucket, 'mine'));
  assert.ok(await exists(Bucket, 'large'));
  assert.is(await manifests(Bucket), 1);
});

test('a condition on the size is one on that of the plaintext', async () => {
  const Bucket = 'sized';
  await bench.store.createBucket(Bucket);
  await put(Bucket, 'small');
  await putInParts(Bucket, 'large');
  for (const Key of ['small', 'large']) {
    const remove = (IfMatchSize: number, IfMatch?: string) =>
      proxy.client.send(new DeleteObjectCommand({ Bucket, Key, IfMatchSize, IfMatch })).then(
        () => 'deleted',
        (error: Error) => error.name,
      );
    for (const size of [0, 4, 5 + 28]) assert.is(await remove(size), 'PreconditionFailed', `${Key}, ${size}`);
    assert.is(await remove(5, '"other"'), 'PreconditionFailed');
    assert.ok(await exists(Bucket, Key));
    assert.is(await remove(5), 'deleted');
    assert.not.ok(await exists(Bucket, Key));
  }
});

test('so are those in a list, key by key', async () => {
  const Bucket = 'sized';
  await put(Bucket, 'small');
  await put(Bucket, 'kept');
  await putInParts(Bucket, 'large');
  const Objects = [
    { Key: 'small', Size: 5 },
    { Key: 'kept', Size: 5 + 28 },
    { Key: 'large', Size: 5 },
    { Key: 'none', Size: 5 },
  ];
  const { Errors, Deleted } = await proxy.client.send(
    new DeleteObjectsCommand({ Bucket, Delete: { Objects } }),
  );
  assert.equal(
    Errors?.map(({ Key, Code }) => [Key, Code]),
    [['kept', 'PreconditionFailed']],
  );
  assert.equal(Deleted?.map(({ Key }) => Key).sort(), ['large', 'none', 'small']);
  for (const [Key, left] of Object.entries({ small: false, kept: true, large: false }))
    assert.is(await exists(Bucket, Key), left, Key);
});

test('when nothing is left to delete the store is not asked', async () => {
  bench.log.clear();
  const Delete = { Objects: [{ Key: '.svc/x' }] };
  const result = await proxy.client.send(new DeleteObjectsCommand({ Bucket: 'guarded', Delete }));
  assert.is(result.Errors?.length, 1);
  assert.is(bench.log.requests.length, 0);
});

test('a list that is no list, or was changed on the way, deletes nothing', async () => {
  const Bucket = 'guarded';
  await put(Bucket, 'kept');
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${proxy.url}/${Bucket}?delete`, { method: 'POST', body, headers });
  assert.is((await post('<Delete><Object>')).status, 400);
  assert.is((await post('<!DOCTYPE x><Delete><Object><Key>kept</Key></Object></Delete>')).status, 400);
  const wrong = await post('<Delete><Object><Key>kept</Key></Object></Delete>', {
    'content-md5': 'XUFAKrxLKna5cZ2REBfFkg==',
  });
  assert.match(await wrong.text(), /<Code>BadDigest<\/Code>/);
  assert.ok(await exists(Bucket, 'kept'));
});

test.run();
