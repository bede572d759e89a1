import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutBucketVersioningCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Bench,
  bucket as Bucket,
  startBench,
  type TestProxy,
} from '../../../objects/read/support/bench.ts';

const test = suite('what passes through');

let bench: Bench;
let proxy: TestProxy;

test.before(async () => {
  bench = await startBench({ versioning: true });
  proxy = await bench.proxy({ stateBucket: 'svc-state' });
  await bench.store.createBucket('svc-state');
});
test.after(() => bench.stop());

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Error) => error.name,
  );

test('buckets are made, found, versioned and removed', async () => {
  const name = { Bucket: 'fresh' };
  await proxy.client.send(new CreateBucketCommand(name));
  await bench.store.client.send(new HeadBucketCommand(name));
  const VersioningConfiguration = { Status: 'Enabled' } as const;
  await proxy.client.send(new PutBucketVersioningCommand({ ...name, VersioningConfiguration }));
  assert.is((await proxy.client.send(new GetBucketVersioningCommand(name))).Status, 'Enabled');
  await proxy.client.send(new DeleteBucketCommand(name));
  assert.is(await failure(proxy.client.send(new HeadBucketCommand(name))), 'NotFound');
});

test('the bucket of the helper objects is not listed', async () => {
  const { Buckets } = await proxy.client.send(new ListBucketsCommand({}));
  const names = Buckets?.map(({ Name }) => Name);
  assert.ok(names?.includes(Bucket));
  assert.not.ok(names?.includes('svc-state'));
  assert.is(
    await failure(proxy.client.send(new DeleteBucketCommand({ Bucket: 'svc-state' }))),
    'AccessDenied',
  );
});

test('tags of objects are set, read and taken away, whatever the key', async () => {
  const name = { Bucket, Key: 'w/ä +&%?=é' };
  await proxy.client.send(new PutObjectCommand({ ...name, Body: 'hello' }));
  const TagSet = [{ Key: 'a b', Value: 'x+y=1' }];
  await proxy.client.send(new PutObjectTaggingCommand({ ...name, Tagging: { TagSet } }));
  assert.equal((await proxy.client.send(new GetObjectTaggingCommand(name))).TagSet, TagSet);
  assert.equal((await bench.store.client.send(new GetObjectTaggingCommand(name))).TagSet, TagSet);
  await proxy.client.send(new DeleteObjectTaggingCommand(name));
  assert.equal((await proxy.client.send(new GetObjectTaggingCommand(name))).TagSet, []);
});

test("the store's errors come back as the store has them", async () => {
  const missing = { Bucket: 'no-such-bucket' };
  assert.is(await failure(proxy.client.send(new GetBucketVersioningCommand(missing))), 'NoSuchBucket');
  const acl = new PutObjectAclCommand({ Bucket, Key: 'nothing', ACL: 'private' });
  const direct = new PutObjectAclCommand({ Bucket, Key: 'nothing', ACL: 'private' });
  assert.is(await failure(proxy.client.send(acl)), await failure(bench.store.client.send(direct)));
});

test('a document whose checksum does not fit is refused before the store sees it', async () => {
  bench.log.clear();
  const response = await fetch(`${proxy.url}/${Bucket}?tagging`, {
    method: 'PUT',
    body: '<Tagging><TagSet></TagSet></Tagging>',
    headers: { 'content-md5': 'XUFAKrxLKna5cZ2REBfFkg==' },
  });
  assert.match(await response.text(), /<Code>BadDigest<\/Code>/);
  assert.is(bench.log.requests.length, 0);
});

test('what is no policy is refused in the words of S3, and an empty document by the store', async () => {
  const policy = proxy.client.send(new PutBucketPolicyCommand({ Bucket, Policy: 'none' }));
  assert.is(await failure(policy), 'MalformedPolicy');
  const hold = { Bucket, Key: 'any' };
  assert.is(await failure(proxy.client.send(new PutObjectLegalHoldCommand(hold))), 'MalformedXML');
  const elsewhere = new PutObjectLegalHoldCommand({ ...hold, Bucket: 'no-such-bucket' });
  assert.is(await failure(proxy.client.send(elsewhere)), 'NoSuchBucket');
});

test('a document may come without length and with its checksum in a trailer', async () => {
  const Tagging = { TagSet: [{ Key: 'k', Value: 'v' }] };
  await proxy.client.send(new PutBucketTaggingCommand({ Bucket, Tagging, ChecksumAlgorithm: 'CRC32C' }));
  const body = '<Tagging><TagSet><Tag><Key>k</Key><Value>w</Value></Tag></TagSet></Tagging>';
  const response = await fetch(`${proxy.url}/${Bucket}?tagging`, {
    method: 'PUT',
    body: new Blob([`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`]).stream(),
    duplex: 'half',
    headers: {
      'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      'content-encoding': 'aws-chunked',
    },
  } as RequestInit);
  assert.ok(response.ok, await response.text());
});

test('a document that is too long is refused', async () => {
  const response = await fetch(`${proxy.url}/${Bucket}?policy`, {
    method: 'PUT',
    body: 'x'.repeat(1024 * 1024 + 1),
  });
  assert.match(await response.text(), /<Code>MaxMessageLengthExceeded<\/Code>/);
});

test('restoring may not select into the bucket', async () => {
  bench.log.clear();
  const response = await fetch(`${proxy.url}/${Bucket}/key?restore`, {
    method: 'POST',
    body: '<RestoreRequest><Type>SELECT</Type><OutputLocation><S3/></OutputLocation></RestoreRequest>',
  });
  assert.is(response.status, 501);
  assert.is(bench.log.requests.length, 0);
});

test.run();
