import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bench, bucket, MiB, startBench, type TestProxy } from './support/bench.ts';
import { get, head, put, putParts, send } from './support/client.ts';

const test = suite('GetObject and HeadObject');
let bench: Bench;
let proxy: TestProxy;

test.before(async () => {
  bench = await startBench();
  proxy = await bench.proxy();
});
test.after(() => bench?.stop());

test('what was put is read, and the store holds ciphertext', async () => {
  const body = randomBytes(300_000);
  await put(proxy, 'small', body, {
    ContentType: 'text/x-test',
    CacheControl: 'max-age=7',
    Metadata: { a: 'b' },
  });
  const stored = readFileSync(join(bench.store.dataDir, bucket, 'small'));
  assert.is(stored.length, body.length + 28);
  assert.is(stored.includes(body.subarray(0, 64)), false);
  bench.log.clear();
  const answer = await get(proxy, 'small');
  assert.is(answer.status, 200);
  assert.ok(answer.body.equals(body));
  assert.is(answer.headers['content-length'], '300000');
  assert.is(answer.headers['content-type'], 'text/x-test');
  assert.is(answer.headers['cache-control'], 'max-age=7');
  assert.is(answer.headers['x-amz-meta-a'], 'b');
  assert.ok(answer.headers['last-modified']);
  assert.is(answer.headers['x-amz-meta-svc-encrypted'], 'true');
  assert.is(bench.log.requests.length, 1);
});

test('checksums of the ciphertext never reach the caller', async () => {
  const body = randomBytes(1000);
  await put(proxy, 'summed', body);
  const sums = async (headers: Record<string, string>) => {
    const answer = await get(proxy, 'summed', headers);
    return Object.entries(answer.headers).filter(([name]) => name.startsWith('x-amz-checksum'));
  };
  const mode = { 'x-amz-checksum-mode': 'ENABLED' };
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(body));
  assert.equal(await sums({}), []);
  assert.equal(await sums({ ...mode, range: 'bytes=0-99' }), []);
  assert.equal((await sums(mode)).sort(), [
    ['x-amz-checksum-crc32', crc.toString('base64')],
    ['x-amz-checksum-type', 'FULL_OBJECT'],
  ]);
});

test('an empty object is read', async () => {
  await put(proxy, 'empty', Buffer.alloc(0));
  const answer = await get(proxy, 'empty');
  assert.equal([answer.status, answer.headers['content-length'], answer.body.length], [200, '0', 0]);
  const ranged = await get(proxy, 'empty', { range: 'bytes=0-0' });
  assert.equal([ranged.status, ranged.headers['content-range']], [416, 'bytes */0']);
});

test('one ETag everywhere, and conditions by it', async () => {
  const etag = await put(proxy, 'tagged', randomBytes(10));
  const answer = await get(proxy, 'tagged');
  assert.is(answer.headers.etag, etag);
  assert.is((await head(proxy, 'tagged')).headers.etag, etag);
  for (const range of [{}, { range: 'bytes=1-2' }]) {
    assert.is((await get(proxy, 'tagged', { 'if-none-match': etag, ...range })).status, 304);
    assert.is((await get(proxy, 'tagged', { 'if-match': etag, ...range })).complete, true);
    const failed = await get(proxy, 'tagged', {
      'if-match': '"0123456789abcdef0123456789abcdef-svc"',
      ...range,
    });
    assert.is(failed.status, 412);
    assert.match(failed.body.toString(), '<Code>PreconditionFailed</Code>');
  }
  assert.is((await head(proxy, 'tagged', { 'if-none-match': etag })).status, 304);
});

test('what is missing is told in S3 words, ranges included', async () => {
  for (const headers of [{}, { range: 'bytes=0-1' }]) {
    const answer = await get(proxy, 'missing', headers);
    assert.is(answer.status, 404);
    assert.match(answer.body.toString(), '<Code>NoSuchKey</Code>');
  }
  assert.is((await head(proxy, 'missing')).status, 404);
});

test('answer headers can be overridden, with ranges too', async () => {
  await put(proxy, 'overridden', randomBytes(10));
  const query = '?response-content-type=text%2Fx-other&response-cache-control=no-store';
  for (const headers of [{}, { range: 'bytes=0-1' }]) {
    const answer = await send(proxy, `/${bucket}/overridden${query}`, headers);
    assert.is(answer.headers['content-type'], 'text/x-other');
    assert.is(answer.headers['cache-control'], 'no-store');
  }
});

test('If-Range answers the whole when the object is another', async () => {
  const body = randomBytes(100);
  const etag = await put(proxy, 'if-range', body);
  const same = await get(proxy, 'if-range', { range: 'bytes=5-9', 'if-range': etag });
  assert.equal([same.status, same.body], [206, body.subarray(5, 10)]);
  const dated = same.headers['last-modified'] ?? '';
  assert.is((await get(proxy, 'if-range', { range: 'bytes=5-9', 'if-range': dated })).status, 206);
  for (const other of ['"x"', `W/${etag}`, 'Thu, 01 Jan 1970 00:00:00 GMT']) {
    const answer = await get(proxy, 'if-range', { range: 'bytes=5-9', 'if-range': other });
    assert.equal([answer.status, answer.body], [200, body]);
  }
});

test('an object that is not encrypted is passed through as stored, ranges included', async () => {
  const body = randomBytes(5000);
  await bench.store.client.send(
    new PutObjectCommand({ Bucket: bucket, Key: 'plain', Body: body, Metadata: { own: '1' } }),
  );
  const whole = await get(proxy, 'plain');
  assert.equal([whole.status, whole.body], [200, body]);
  assert.is(whole.headers['x-amz-meta-own'], '1');
  const slice = await get(proxy, 'plain', { range: 'bytes=10-19' });
  assert.equal([slice.status, slice.body], [206, body.subarray(10, 20)]);
  assert.is(slice.headers['content-range'], 'bytes 10-19/5000');
  assert.is((await get(proxy, 'plain', { range: 'bytes=9999-' })).status, 416);
  const shown = await head(proxy, 'plain');
  assert.equal([shown.status, shown.headers['content-length']], [200, '5000']);
});

test('an object that is not encrypted is refused where such reads are denied', async () => {
  await bench.store.client.send(new PutObjectCommand({ Bucket: bucket, Key: 'denied', Body: 'open secret' }));
  const denying = await bench.proxy({ unencryptedReads: 'deny' });
  for (const headers of [{}, { range: 'bytes=0-1' }]) {
    const answer = await get(denying, 'denied', headers);
    assert.is(answer.status, 403);
    assert.not.match(answer.body.toString(), 'secret');
  }
  assert.is((await head(denying, 'denied')).status, 403);
  assert.ok(denying.refused.every((reason) => reason === 'unencrypted'));
});

test('HEAD shows plaintext sizes and the svc headers', async () => {
  await put(proxy, 'shown', randomBytes(12_345));
  const answer = await head(proxy, 'shown');
  assert.is(answer.headers['content-length'], '12345');
  assert.match(String(answer.headers['x-amz-meta-svc-wrapped-dek']), /^vault:v1:/);
  const ranged = await head(proxy, 'shown', { range: 'bytes=-45' });
  assert.equal([ranged.status, ranged.headers['content-length']], [206, '45']);
  assert.is(ranged.headers['content-range'], 'bytes 12300-12344/12345');
});

test('a multipart object is read whole, by part number and through HEAD', async () => {
  const sizes = [5 * MiB, 5 * MiB + 17, 1234];
  const body = await putParts(proxy, 'parts', sizes, { numbers: [1, 5, 9], ContentType: 'text/x-parts' });
  const whole = await get(proxy, 'parts');
  assert.is(whole.status, 200);
  assert.ok(whole.body.equals(body));
  assert.is(whole.headers['content-type'], 'text/x-parts');
  const second = await send(proxy, `/${bucket}/parts?partNumber=2`);
  assert.is(second.status, 206);
  assert.ok(second.body.equals(body.subarray(5 * MiB, 10 * MiB + 17)));
  assert.is(second.headers['x-amz-mp-parts-count'], '3');
  assert.is(second.headers['content-range'], `bytes ${5 * MiB}-${10 * MiB + 16}/${body.length}`);
  const beyond = await send(proxy, `/${bucket}/parts?partNumber=4`);
  assert.is(beyond.status, 416);
  const shown = await head(proxy, 'parts');
  assert.is(shown.headers['content-length'], String(body.length));
  const list = JSON.parse(String(shown.headers['x-amz-meta-svc-wrapped-dek']));
  assert.equal(
    list.parts.map((part: { n: number; size: number }) => [part.n, part.size]),
    [
      [1, sizes[0]],
      [5, sizes[1]],
      [9, sizes[2]],
    ],
  );
});

test('HEAD shows the array of parts while the store still holds a pointer', async () => {
  const pointing = await bench.proxy({ inlineLimit: 0 });
  const body = await putParts(pointing, 'pointer', [5 * MiB, 10]);
  const raw = await bench.store.client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'pointer' }));
  assert.is(JSON.parse(raw.Metadata?.['svc-wrapped-dek'] ?? '').parts, undefined);
  const shown = await head(pointing, 'pointer');
  assert.is(shown.headers['content-length'], String(body.length));
  assert.is(JSON.parse(String(shown.headers['x-amz-meta-svc-wrapped-dek'])).parts.length, 2);
  assert.ok((await get(pointing, 'pointer')).body.equals(body));
});

test('part number 1 of an object in one piece is the whole', async () => {
  const body = randomBytes(99);
  await put(proxy, 'one', body);
  const answer = await send(proxy, `/${bucket}/one?partNumber=1`);
  assert.equal([answer.status, answer.body, answer.headers['content-range']], [206, body, 'bytes 0-98/99']);
  assert.is((await send(proxy, `/${bucket}/one?partNumber=2`)).status, 416);
  assert.is((await send(proxy, `/${bucket}/one?partNumber=0`)).status, 400);
  assert.is((await send(proxy, `/${bucket}/one?partNumber=1`, { range: 'bytes=0-1' })).status, 400);
});

test('objects under an older version of the KEK stay readable', async () => {
  const body = randomBytes(50);
  await put(proxy, 'older', body);
  await bench.vault.rotate();
  assert.equal((await get(proxy, 'older')).body, body);
  await put(proxy, 'newer', body);
  assert.match(String((await head(proxy, 'newer')).headers['x-amz-meta-svc-wrapped-dek']), /^vault:v2:/);
});

test('a store that answers a longer or shorter body is refused', async () => {
  const path = join(bench.store.dataDir, bucket, 'length');
  const body = randomBytes(1000);
  await put(proxy, 'length', body);
  const stored = readFileSync(path);
  for (const wrong of [Buffer.concat([stored, Buffer.from('x')]), stored.subarray(0, 20), Buffer.alloc(0)]) {
    writeFileSync(path, wrong);
    const answer = await get(proxy, 'length');
    assert.is(answer.status, 500);
    assert.match(answer.body.toString(), '<Code>InternalError</Code>');
  }
  writeFileSync(path, stored);
  assert.equal((await get(proxy, 'length')).body, body);
});

test.run();
