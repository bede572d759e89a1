import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListPartsCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bench, bucket, MiB, startBench, type TestProxy } from '../read/support/bench.ts';
import { get, head, put, putParts } from '../read/support/client.ts';

const test = suite('copies');
let bench: Bench;
let proxy: TestProxy;
let pointing: TestProxy;

test.before(async () => {
  bench = await startBench();
  proxy = await bench.proxy();
  pointing = await bench.proxy({ inlineLimit: 0 });
});
test.after(() => bench?.stop());

const copy = (via: TestProxy, from: string, to: string, more: object = {}) =>
  via.client.send(
    new CopyObjectCommand({
      Bucket: bucket,
      Key: to,
      CopySource: `${bucket}/${encodeURIComponent(from)}`,
      ...more,
    }),
  );

async function failure(attempt: Promise<unknown>): Promise<[string, number | undefined]> {
  try {
    await attempt;
  } catch (error) {
    const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
    return [name, $metadata?.httpStatusCode];
  }
  throw new Error('did not fail');
}

const storedHead = (key: string) =>
  bench.store.client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));

const isCiphertext = (key: string, body: Buffer) =>
  !readFileSync(join(bench.store.dataDir, bucket, key)).includes(body.subarray(0, 32));

test('a copy reads, keeps metadata and headers, and is bound to its new name', async () => {
  const body = randomBytes(5000);
  const described = { ContentType: 'text/x-a', CacheControl: 'no-cache', Metadata: { own: 'value' } };
  await put(proxy, 'w/ä +&%?=é//x', body, described);
  const { CopyObjectResult } = await copy(proxy, 'w/ä +&%?=é//x', 'copied');
  const answer = await get(proxy, 'copied');
  assert.equal(answer.body, body);
  assert.is(answer.headers.etag, CopyObjectResult?.ETag);
  assert.ok(CopyObjectResult?.LastModified instanceof Date);
  assert.is(answer.headers['content-type'], 'text/x-a');
  assert.is(answer.headers['cache-control'], 'no-cache');
  assert.is(answer.headers['x-amz-meta-own'], 'value');
});

test('directives that there are not, and more metadata than S3 takes, are refused whatever is copied', async () => {
  await put(proxy, 'directed', randomBytes(10));
  for (const kind of ['Metadata', 'Tagging']) {
    const attempt = copy(proxy, 'directed', 'directed', { [`${kind}Directive`]: 'MOVE' });
    const message = attempt.catch((error: Error) => error.message);
    assert.equal(await failure(attempt), ['InvalidArgument', 400]);
    assert.is(await message, `Unknown ${kind.toLowerCase()} directive.`);
  }
  const long = copy(proxy, 'directed', 'elsewhere', { Metadata: { long: 'x'.repeat(2048) } });
  assert.equal(await failure(long), ['MetadataTooLarge', 400]);
});

test('a rename by copy and delete leaves a readable object', async () => {
  const body = randomBytes(100);
  await put(proxy, 'before', body);
  await copy(proxy, 'before', 'after');
  await proxy.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'before' }));
  assert.equal((await get(proxy, 'after')).body, body);
  assert.is((await get(proxy, 'before')).status, 404);
});

test('REPLACE takes the caller’s metadata and keeps the object readable, onto itself too', async () => {
  const body = randomBytes(100);
  await put(proxy, 'replace', body, { Metadata: { old: '1' } });
  const more = { MetadataDirective: 'REPLACE', Metadata: { new: '2' }, ContentType: 'text/x-new' };
  await copy(proxy, 'replace', 'replace', more);
  const answer = await get(proxy, 'replace');
  assert.equal(answer.body, body);
  assert.is(answer.headers['x-amz-meta-new'], '2');
  assert.is(answer.headers['x-amz-meta-old'], undefined);
  assert.is(answer.headers['content-type'], 'text/x-new');
  assert.equal(await failure(copy(proxy, 'replace', 'replace')), ['InvalidRequest', 400]);
});

test('multipart objects are copied, inline and by a part list of their own', async () => {
  for (const via of [proxy, pointing]) {
    const body = await putParts(via, 'parts', [5 * MiB, 5 * MiB, 777], { Metadata: { a: 'b' } });
    await copy(via, 'parts', 'parts-copy');
    await via.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'parts' }));
    const answer = await get(via, 'parts-copy');
    assert.ok(answer.body.equals(body));
    assert.is(answer.headers['x-amz-meta-a'], 'b');
    const range = `bytes=${5 * MiB - 5}-${5 * MiB + 4}`;
    assert.equal((await get(via, 'parts-copy', { range })).body, body.subarray(5 * MiB - 5, 5 * MiB + 5));
    assert.is((await head(via, 'parts-copy')).headers['content-length'], String(body.length));
    const { Metadata } = await storedHead('parts-copy');
    assert.is(JSON.parse(Metadata?.['svc-wrapped-dek'] ?? '').parts !== undefined, via === proxy);
  }
});

test('a copy ends under the latest version of the KEK', async () => {
  const body = randomBytes(100);
  await put(proxy, 'rotated', body);
  const parts = await putParts(pointing, 'rotated-parts', [5 * MiB, 5]);
  const before = Number((await storedHead('rotated')).Metadata?.['svc-key-version']);
  await bench.vault.rotate();
  await copy(proxy, 'rotated', 'rotated-copy');
  await copy(pointing, 'rotated-parts', 'rotated-parts-copy');
  for (const key of ['rotated-copy', 'rotated-parts-copy'])
    assert.is((await storedHead(key)).Metadata?.['svc-key-version'], String(before + 1));
  const shown = await head(proxy, 'rotated-parts-copy');
  const { parts: entries } = JSON.parse(String(shown.headers['x-amz-meta-svc-wrapped-dek']));
  for (const { dek } of entries) assert.match(dek, `vault:v${before + 1}:`);
  assert.equal((await get(proxy, 'rotated-copy')).body, body);
  assert.ok((await get(proxy, 'rotated-parts-copy')).body.equals(parts));
});

test('a source that is not encrypted is encrypted on its way, tags included', async () => {
  const body = randomBytes(3000);
  const at = { Bucket: bucket, Key: 'plain' };
  await bench.store.client.send(
    new PutObjectCommand({ ...at, Body: body, Metadata: { own: '1' }, ContentType: 'text/x-p' }),
  );
  const Tagging = { TagSet: [{ Key: 'k +', Value: 'v=/x' }] };
  await bench.store.client.send(new PutObjectTaggingCommand({ ...at, Tagging }));
  await copy(proxy, 'plain', 'plain-copy');
  const answer = await get(proxy, 'plain-copy');
  assert.equal(answer.body, body);
  assert.is(answer.headers['x-amz-meta-own'], '1');
  assert.is(answer.headers['content-type'], 'text/x-p');
  assert.is(answer.headers['x-amz-meta-svc-encrypted'], 'true');
  assert.ok(isCiphertext('plain-copy', body));
  const tags = await bench.store.client.send(
    new GetObjectTaggingCommand({ Bucket: bucket, Key: 'plain-copy' }),
  );
  assert.equal(tags.TagSet, Tagging.TagSet);
  await copy(proxy, 'plain', 'plain');
  assert.ok(isCiphertext('plain', body));
  assert.equal((await get(proxy, 'plain')).body, body);
});

test('a source that is not encrypted is refused where such reads are denied', async () => {
  await bench.store.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'denied', Body: 'open' }));
  const denying = await bench.proxy({ unencryptedReads: 'deny' });
  assert.equal(await failure(copy(denying, 'denied', 'denied-copy')), ['AccessDenied', 403]);
});

test('conditions on the source hold', async () => {
  const etag = await put(proxy, 'condition', randomBytes(10));
  await copy(proxy, 'condition', 'condition-copy', { CopySourceIfMatch: etag });
  const other = '"0123456789abcdef0123456789abcdef-svc"';
  for (const more of [{ CopySourceIfMatch: other }, { CopySourceIfNoneMatch: etag }])
    assert.equal(await failure(copy(proxy, 'condition', 'condition-copy', more)), [
      'PreconditionFailed',
      412,
    ]);
});

test('what is missing, and what is the proxy’s own, cannot be copied', async () => {
  bench.log.clear();
  assert.equal(await failure(copy(proxy, 'missing', 'copy')), ['NoSuchKey', 404]);
  const asked = ['HEAD', 'GET', 'PUT'].map((method) => bench.log.matching(method, /^\/data\//).length);
  assert.equal(asked, [1, 1, 0], 'a HEAD, and once more for the reason that it does not have');
  assert.equal(await failure(copy(proxy, '.svc/manifests/x', 'copy')), ['AccessDenied', 403]);
});

test('a source that was tampered with does not become a good copy', async () => {
  await put(proxy, 'stripped', randomBytes(100));
  const { Metadata = {} } = await storedHead('stripped');
  const { 'svc-algorithm': _, ...partly } = Metadata;
  await bench.store.client.send(
    new CopyObjectCommand({
      Bucket: bucket,
      Key: 'stripped',
      CopySource: `${bucket}/stripped`,
      MetadataDirective: 'REPLACE',
      Metadata: partly,
    }),
  );
  assert.is((await failure(copy(proxy, 'stripped', 'stripped-copy')))[1], 500);
  assert.is((await get(proxy, 'stripped-copy')).status, 404);
});

test('a copy to another bucket reads, bound to the bucket or not', async () => {
  await bench.store.createBucket('other');
  const bound = await bench.proxy({ binding: 'bucket-key' });
  const body = randomBytes(100);
  for (const via of [proxy, bound]) {
    await put(via, 'far', body);
    const CopySource = `${bucket}/far`;
    await via.client.send(new CopyObjectCommand({ Bucket: 'other', Key: 'far', CopySource }));
    const response = await fetch(`${via.url}/other/far`);
    assert.equal(Buffer.from(await response.arrayBuffer()), body);
  }
});

test('parts are copied by ranges of encrypted, multipart and plain sources', async () => {
  const single = randomBytes(6 * MiB);
  await put(proxy, 'part-single', single);
  const parts = await putParts(proxy, 'part-parts', [5 * MiB, 5 * MiB]);
  const plain = randomBytes(MiB);
  await bench.store.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'part-plain', Body: plain }));
  const at = { Bucket: bucket, Key: 'assembled' };
  const { UploadId } = await proxy.client.send(new CreateMultipartUploadCommand(at));
  const sources: [string, number, number][] = [
    ['part-single', 100, 5 * MiB + 99],
    ['part-parts', 2 * MiB, 9 * MiB],
    ['part-plain', 7, 1000],
  ];
  const Parts = [];
  for (const [index, [key, start, end]] of sources.entries()) {
    const { CopyPartResult } = await proxy.client.send(
      new UploadPartCopyCommand({
        ...at,
        UploadId,
        PartNumber: index + 1,
        CopySource: `${bucket}/${key}`,
        CopySourceRange: `bytes=${start}-${end}`,
      }),
    );
    Parts.push({ PartNumber: index + 1, ETag: CopyPartResult?.ETag });
  }
  await proxy.client.send(
    new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }),
  );
  const expected = Buffer.concat([
    single.subarray(100, 5 * MiB + 100),
    parts.subarray(2 * MiB, 9 * MiB + 1),
    plain.subarray(7, 1001),
  ]);
  assert.ok((await get(proxy, 'assembled')).body.equals(expected));
  assert.ok(isCiphertext('assembled', plain.subarray(7)));
});

test('part ranges that are malformed or outside the source are refused, and a tampered source makes no part', async () => {
  const at = { Bucket: bucket, Key: 'no-part' };
  const { UploadId } = await proxy.client.send(new CreateMultipartUploadCommand(at));
  await put(proxy, 'range', randomBytes(1000));
  const part = (CopySourceRange: string) =>
    proxy.client.send(
      new UploadPartCopyCommand({
        ...at,
        UploadId,
        PartNumber: 1,
        CopySource: `${bucket}/range`,
        CopySourceRange,
      }),
    );
  for (const range of ['bytes=0-1000', 'bytes=5-', 'bytes=-5', 'bytes=7-3', '0-5'])
    assert.equal(await failure(part(range)), ['InvalidArgument', 400], range);
  const path = join(bench.store.dataDir, bucket, 'range');
  const stored = readFileSync(path);
  stored.writeUInt8(stored.readUInt8(500) ^ 1, 500);
  writeFileSync(path, stored);
  assert.is((await failure(part('bytes=0-999')))[1], 500);
  const { Parts = [] } = await proxy.client.send(new ListPartsCommand({ ...at, UploadId }));
  assert.equal(Parts, []);
});

test.run();
