import { randomBytes } from 'node:crypto';
import {
  CopyObjectCommand,
  GetObjectAttributesCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { segmentBytes, segmentedSize } from '../../../src/objects/format/segments.ts';
import { type Bench, bucket, MiB, startBench, type TestProxy } from '../read/support/bench.ts';
import { get, head, put } from '../read/support/client.ts';

const test = suite('objects of format 2 in one piece');
let bench: Bench;
let proxy: TestProxy;
let older: TestProxy;
const stored = segmentBytes + 16;
const bodies = new Map<string, Buffer>();
const sizes = [0, 1, segmentBytes - 1, segmentBytes, segmentBytes + 1, 3 * segmentBytes, 3 * MiB + 5];

test.before(async () => {
  bench = await startBench();
  proxy = await bench.proxy({ format: 2 });
  older = await bench.proxy();
  for (const size of sizes) {
    const body = randomBytes(size);
    bodies.set(`of-${size}`, body);
    await put(proxy, `of-${size}`, body);
  }
});
test.after(() => bench?.stop());

const atStore = (Key: string) =>
  bench.store.client.send(new HeadObjectCommand({ Bucket: bucket, Key, ChecksumMode: 'ENABLED' }));

test('what is stored has the size that follows, and says what it is', async () => {
  for (const [key, body] of bodies) {
    const { ContentLength, Metadata = {} } = await atStore(key);
    assert.is(ContentLength, segmentedSize(body.length), key);
    assert.is(Metadata['svc-algorithm'], 'AES-256-GCM-STREAM-64KiB');
    assert.match(Metadata['svc-wrapped-dek'] ?? '', /^vault:v1:/);
    assert.match(Metadata['svc-derivation'] ?? '', /^[\w-]{43}\.[\w-]{43}$/);
  }
});

test('whole objects and their sizes come back, whatever format the proxy writes', async () => {
  for (const [key, body] of bodies)
    for (const via of [proxy, older]) {
      const answer = await get(via, key);
      assert.is(answer.status, 200, key);
      assert.ok(answer.body.equals(body), key);
      assert.is((await head(via, key)).headers['content-length'], String(body.length), key);
    }
  const body = randomBytes(2 * MiB);
  await put(older, 'older', body);
  assert.ok((await get(proxy, 'older')).body.equals(body), 'format 1 by a proxy that writes format 2');
  assert.is((await atStore('older')).ContentLength, body.length + 28);
});

test('any short range is the slice, and takes a single request for exactly the segments that cover it', async () => {
  const cases = fc.tuple(fc.constantFrom(...bodies.keys()), fc.nat(), fc.nat());
  await fc.assert(
    fc.asyncProperty(cases, async ([key, from, span]) => {
      const body = bodies.get(key) as Buffer;
      if (body.length === 0) return;
      const start = from % body.length;
      const end = Math.min(start + (span % (2 * segmentBytes)), body.length - 1);
      bench.log.clear();
      const answer = await get(proxy, key, { range: `bytes=${start}-${end}` });
      assert.is(answer.headers['content-range'], `bytes ${start}-${end}/${body.length}`);
      assert.ok(answer.body.equals(body.subarray(start, end + 1)));
      const first = Math.floor(start / segmentBytes) * stored;
      const last = (Math.floor(end / segmentBytes) + 1) * stored - 1;
      assert.equal(
        bench.log.requests.map(({ method, requestHeaders }) => `${method} ${requestHeaders.range}`),
        [`GET bytes=${first}-${last}`],
      );
      const bytes = Math.min(last + 1, segmentedSize(body.length)) - first;
      assert.is(bench.log.fetchedBytes(), bytes);
    }),
    { numRuns: 60 },
  );
});

test('other ranges ask for the headers first, and for nothing but what covers them', async () => {
  const key = `of-${3 * MiB + 5}`;
  const body = bodies.get(key) as Buffer;
  const [from, end] = [1.5 * MiB, body.length - 1];
  for (const range of [`bytes=${from}-`, `bytes=-${body.length - from}`, `bytes=${from}-${end}`]) {
    bench.log.clear();
    const answer = await get(proxy, key, { range });
    assert.ok(answer.body.equals(body.subarray(from)), range);
    assert.equal(
      bench.log.requests.map(({ method, requestHeaders }) => `${method} ${requestHeaders.range}`),
      ['HEAD undefined', `GET bytes=${24 * stored}-${segmentedSize(body.length) - 1}`],
      range,
    );
  }
});

test('short ranges of what is not in format 2 and in one piece are the slice as well', async () => {
  const body = randomBytes(3 * MiB);
  await put(older, 'one', body);
  await bench.store.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'plain', Body: body }));
  await new Upload({
    client: proxy.client,
    params: { Bucket: bucket, Key: 'parts', Body: Buffer.concat([body, body]) },
    partSize: 5 * MiB,
  }).done();
  for (const key of ['one', 'plain', 'parts'])
    for (const start of [0, 100, segmentBytes - 1, 3 * MiB - 50]) {
      const answer = await get(proxy, key, { range: `bytes=${start}-${start + 49}` });
      const where = `${key} from ${start}`;
      assert.is(answer.status, 206, where);
      assert.match(
        String(answer.headers['content-range']),
        new RegExp(`^bytes ${start}-${start + 49}/`),
        where,
      );
      assert.ok(answer.body.equals(body.subarray(start, start + 50)), where);
    }
});

test('conditions hold for short ranges, and what is not there is told as ever', async () => {
  const range = 'bytes=0-9';
  const { etag = '' } = (await head(proxy, 'of-1')).headers;
  const status = async (key: string, headers: Record<string, string>) =>
    (await get(proxy, key, { range, ...headers })).status;
  assert.equal(
    [
      await status('of-1', { 'if-match': etag }),
      await status('of-1', { 'if-match': '"0"' }),
      await status('of-1', { 'if-none-match': etag }),
      await status('of-1', { 'if-range': '"0"' }),
      await status('missing', {}),
      await status('of-0', {}),
    ],
    [206, 412, 304, 200, 404, 416],
  );
});

test('a range that cannot be satisfied is refused with an authentic size, and no body is read for it', async () => {
  for (const [key, { length }] of bodies) {
    for (const range of [`bytes=${length}-`, `bytes=${length}-${length + 9}`]) {
      bench.log.clear();
      const answer = await get(proxy, key, { range });
      assert.equal([answer.status, answer.headers['content-range']], [416, `bytes */${length}`], key);
      if (range.endsWith('-')) assert.is(bench.log.fetchedBytes(), 0);
    }
  }
});

test('bodies of unknown length are stored alike', async () => {
  for (const size of [0, 5, segmentBytes, segmentBytes + 7, 2 * MiB]) {
    const body = randomBytes(size);
    const response = await fetch(`${proxy.url}/${bucket}/unknown-${size}`, {
      method: 'PUT',
      body: new Blob([body]).stream(),
      duplex: 'half',
    } as RequestInit);
    assert.is(response.status, 200);
    assert.ok((await get(proxy, `unknown-${size}`)).body.equals(body), String(size));
    assert.is((await atStore(`unknown-${size}`)).ContentLength, segmentedSize(size));
  }
});

test('an empty folder has no body either', async () => {
  await put(proxy, 'folder/', Buffer.alloc(0));
  assert.is((await get(older, 'folder/')).body.length, 0);
  const { Metadata = {}, ContentLength } = await atStore('folder/');
  assert.equal([ContentLength, Metadata['svc-empty-seal']], [0, undefined]);
});

test('checksums are kept', async () => {
  const Body = randomBytes(200_000);
  const at = { Bucket: bucket, Key: 'summed' };
  const { ChecksumSHA256 } = await proxy.client.send(
    new PutObjectCommand({ ...at, Body, ChecksumAlgorithm: 'SHA256' }),
  );
  const { Checksum, ObjectSize } = await proxy.client.send(
    new GetObjectAttributesCommand({ ...at, ObjectAttributes: ['Checksum', 'ObjectSize'] }),
  );
  assert.ok(ChecksumSHA256);
  assert.equal([Checksum?.ChecksumSHA256, ObjectSize], [ChecksumSHA256, Body.length]);
});

test('a copy keeps format and body; the keys are wrapped for its name', async () => {
  for (const [key, body] of bodies) {
    bench.log.clear();
    await older.client.send(
      new CopyObjectCommand({ Bucket: bucket, Key: `copy-${key}`, CopySource: `${bucket}/${key}` }),
    );
    assert.ok(bench.log.fetchedBytes() < 4_000, 'no body passes');
    assert.ok((await get(proxy, `copy-${key}`)).body.equals(body), key);
    if (body.length === 0) continue;
    const [source, copy] = await Promise.all([atStore(key), atStore(`copy-${key}`)]);
    assert.is(copy.Metadata?.['svc-derivation'], source.Metadata?.['svc-derivation']);
    assert.is.not(copy.Metadata?.['svc-wrapped-dek'], source.Metadata?.['svc-wrapped-dek']);
  }
});

test('listings show plaintext sizes of both formats, without a request where one format was promised', async () => {
  const list = async (via: TestProxy) => {
    const found = await via.client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'of-' }));
    return found.Contents?.map(({ Key, Size }) => [Key, Size]);
  };
  const expected = [...bodies].map(([key, { length }]) => [key, length]).sort();
  const promised = await bench.proxy({ format: 2, listSizes: 'format-2' });
  for (const via of [proxy, older, promised]) {
    bench.log.clear();
    assert.equal(await list(via), expected);
    if (via === promised) assert.is(bench.log.matching('HEAD', /./).length, 0);
  }
});

test('without a binding, too, an object is of its format', async () => {
  const unbound = await bench.proxy({ format: 2, binding: 'none' });
  const body = randomBytes(70_000);
  await put(unbound, 'unbound', body);
  assert.ok((await get(proxy, 'unbound')).body.equals(body));
});

test.run();
