import { randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectAttributesCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { segmentBytes, segmentedSize } from '../../../src/objects/format/segments.ts';
import { type Bench, bucket, MiB, startBench, type TestProxy } from '../read/support/bench.ts';
import { get, head, put, putParts } from '../read/support/client.ts';

export const timeout = 240_000;

const test = suite('uploads of format 2');
let bench: Bench;
let proxy: TestProxy;
/** Part lists in manifests alone. */
let listing: TestProxy;
let older: TestProxy;
const sizes = [5 * MiB, 5 * MiB + 1, 5 * MiB + 70_000, 300_000];
const bodies = new Map<string, Buffer>();

test.before(async () => {
  bench = await startBench();
  proxy = await bench.proxy({ format: 2 });
  listing = await bench.proxy({ format: 2, inlineLimit: 0 });
  older = await bench.proxy();
  bodies.set('inline', await putParts(proxy, 'inline', sizes));
  bodies.set('pointer', await putParts(listing, 'pointer', sizes));
  bodies.set('gaps', await putParts(proxy, 'gaps', sizes, { numbers: [3, 8, 200, 10_000] }));
});
test.after(() => bench?.stop());

/** Calls to the key server. */
async function calls<T>(
  via: TestProxy,
  action: () => Promise<T>,
): Promise<[T, { wrap: number; unwrap: number }]> {
  const { keys } = via.context as { keys: Record<'wrap' | 'unwrap' | 'create', unknown> };
  const counted = { wrap: 0, unwrap: 0 };
  const { wrap, unwrap, create } = keys;
  const counting =
    (name: 'wrap' | 'unwrap', call: unknown) =>
    (...args: unknown[]) => {
      counted[name]++;
      return (call as (...all: unknown[]) => unknown)(...args);
    };
  Object.assign(keys, {
    wrap: counting('wrap', wrap),
    create: counting('wrap', create),
    unwrap: counting('unwrap', unwrap),
  });
  try {
    return [await action(), counted];
  } finally {
    Object.assign(keys, { wrap, unwrap, create });
  }
}

const atStore = (Key: string) => bench.store.client.send(new HeadObjectCommand({ Bucket: bucket, Key }));

test('objects come back whole, and by every range around the ends of parts and segments', async () => {
  for (const [key, body] of bodies) {
    for (const via of [proxy, older]) assert.ok((await get(via, key)).body.equals(body), key);
    assert.is((await head(older, key)).headers['content-length'], String(body.length));
    let border = 0;
    const edges = new Set([0, segmentBytes - 1, segmentBytes, body.length - 1]);
    for (const size of sizes.slice(0, -1)) {
      border += size;
      for (const near of [-segmentBytes, -1, 0, 1]) edges.add(border + near);
    }
    const sorted = [...edges].sort((a, b) => a - b);
    let extra = 1;
    for (const start of sorted)
      for (const end of sorted.filter((edge) => edge >= start).slice(0, 3)) {
        bench.log.clear();
        const answer = await get(proxy, key, { range: `bytes=${start}-${end}` });
        assert.is(answer.status, 206);
        assert.is(answer.headers['content-range'], `bytes ${start}-${end}/${body.length}`);
        assert.ok(answer.body.equals(body.subarray(start, end + 1)), `${key} ${start}-${end}`);
        const fetched = bench.log.matching('GET', new RegExp(`/${bucket}/${key}`));
        // the first range was asked for as of an object in one piece
        assert.is(fetched.length, 1 + extra, 'segments lie side by side, those of several parts too');
        const atMost = segmentedSize(end - start + 1) + 3 * (segmentBytes + 16);
        assert.ok((fetched.at(-1)?.responseBytes ?? 0) <= atMost);
        extra = 0;
      }
  }
});

test('parts are found by number', async () => {
  const body = bodies.get('gaps') as Buffer;
  const answer = await get(proxy, 'gaps?partNumber=2');
  assert.is(answer.headers['x-amz-mp-parts-count'], '4');
  assert.ok(answer.body.equals(body.subarray(5 * MiB, 10 * MiB + 1)));
});

test('a short range after a HEAD asks the store once for what covers it, in parts as in one piece', async () => {
  const whole = randomBytes(5 * MiB);
  await put(proxy, 'whole', whole);
  for (const key of ['whole', 'pointer']) {
    const body = bodies.get(key) ?? whole;
    const fresh = await bench.proxy({ format: 2 });
    await head(fresh, key);
    bench.log.clear();
    const answer = await get(fresh, key, { range: 'bytes=200000-200099' });
    assert.ok(answer.body.equals(body.subarray(200_000, 200_100)), key);
    const asked = bench.log.matching('GET', new RegExp(`/${bucket}/${key}`));
    assert.is(asked.length, 1, `${key}: ${JSON.stringify(asked)}`);
    assert.is(asked[0]?.responseBytes, segmentBytes + 16, key);
  }
});

test('one wrapped key, however many parts: one call to write, one to read', async () => {
  const [body, written] = await calls(listing, () =>
    putParts(listing, 'many', [...Array.from({ length: 11 }, () => 5 * MiB), 3]),
  );
  assert.equal(written, { wrap: 1, unwrap: 0 });
  const fresh = await bench.proxy({ format: 2 });
  const [answer, read] = await calls(fresh, () => get(fresh, 'many'));
  assert.ok(answer.body.equals(body));
  assert.equal(read, { wrap: 0, unwrap: 1 });
  const text = (await atStore('many')).Metadata?.['svc-wrapped-dek'] ?? '';
  assert.match(text, /^\{"v":2,"manifest":"[\w-]{22}","seal":"vault:v1:/);
});

test('another proxy takes parts and completes with one call, whatever format it writes', async () => {
  const at = { Bucket: bucket, Key: 'shared' };
  const { UploadId } = await proxy.client.send(new CreateMultipartUploadCommand(at));
  const other = await bench.proxy();
  const plaintexts = [randomBytes(5 * MiB), randomBytes(5 * MiB), randomBytes(1)];
  const [, counted] = await calls(other, async () => {
    const Parts = await Promise.all(
      plaintexts.map(async (Body, index) => {
        const part = { ...at, UploadId, PartNumber: index + 1, Body };
        const { ETag } = await other.client.send(new UploadPartCommand(part));
        return { PartNumber: index + 1, ETag };
      }),
    );
    const shown = await other.client.send(new ListPartsCommand({ ...at, UploadId }));
    assert.equal(
      shown.Parts?.map(({ Size }) => Size),
      plaintexts.map(({ length }) => length),
    );
    await other.client.send(
      new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }),
    );
  });
  assert.equal(counted, { wrap: 0, unwrap: 1 });
  assert.ok((await get(proxy, 'shared')).body.equals(Buffer.concat(plaintexts)));
});

test('a part that is sent again has another salt, and counts', async () => {
  const at = { Bucket: bucket, Key: 'again' };
  const { UploadId } = await listing.client.send(new CreateMultipartUploadCommand(at));
  const send = async (Body: Buffer) =>
    (await listing.client.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body }))).ETag;
  await send(Buffer.alloc(1000, 'a'));
  const ETag = await send(Buffer.alloc(1000, 'a'));
  const salts = bench.log
    .matching('PUT', /\/00001\//)
    .map(({ path }) => /\/00001\/[^/]+\/[^/]+\/([^/]+)/.exec(path)?.[1]);
  assert.is(new Set(salts.slice(-2)).size, 2);
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await listing.client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload }));
  assert.ok((await get(proxy, 'again')).body.equals(Buffer.alloc(1000, 'a')));
});

test('an empty part, alone and last', async () => {
  for (const list of [[0], [5 * MiB, 0]]) {
    const body = await putParts(listing, 'empty-part', list);
    assert.ok((await get(proxy, 'empty-part')).body.equals(body), String(list));
    assert.is((await atStore('empty-part')).ContentLength, segmentedSize(body.length));
  }
});

test('copies wrap one key again and move no body; parts copied from either format are right', async () => {
  for (const [key, body] of bodies) {
    bench.log.clear();
    const copy = new CopyObjectCommand({
      Bucket: bucket,
      Key: `copy-${key}`,
      CopySource: `${bucket}/${key}`,
    });
    const [, counted] = await calls(older, () => older.client.send(copy));
    assert.ok(counted.wrap === 1 && counted.unwrap <= 2, JSON.stringify(counted));
    assert.ok(bench.log.fetchedBytes() < 20_000);
    assert.ok((await get(proxy, `copy-${key}`)).body.equals(body), key);
  }
  const source = randomBytes(6 * MiB);
  await put(older, 'of-format-1', source);
  const at = { Bucket: bucket, Key: 'of-copies' };
  const { UploadId } = await proxy.client.send(new CreateMultipartUploadCommand(at));
  const Parts = [];
  for (const [index, [from, range]] of (
    [
      ['of-format-1', 'bytes=0-5242879'],
      ['inline', 'bytes=5242870-10485761'],
    ] as const
  ).entries()) {
    const PartNumber = index + 1;
    const part = { ...at, UploadId, PartNumber, CopySource: `${bucket}/${from}`, CopySourceRange: range };
    const { CopyPartResult } = await proxy.client.send(new UploadPartCopyCommand(part));
    Parts.push({ PartNumber, ETag: CopyPartResult?.ETag });
  }
  await proxy.client.send(
    new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }),
  );
  const inline = bodies.get('inline') as Buffer;
  const expected = Buffer.concat([source.subarray(0, 5 * MiB), inline.subarray(5_242_870, 10_485_762)]);
  assert.ok((await get(older, 'of-copies')).body.equals(expected));
});

test('checksums of parts and of the whole are those of the plaintext', async () => {
  const at = { Bucket: bucket, Key: 'summed' };
  const create = { ...at, ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const;
  const { UploadId } = await listing.client.send(new CreateMultipartUploadCommand(create));
  const Parts = [];
  for (const [index, size] of [5 * MiB, 100].entries()) {
    const PartNumber = index + 1;
    const part = {
      ...at,
      UploadId,
      PartNumber,
      Body: randomBytes(size),
      ChecksumAlgorithm: 'CRC32',
    } as const;
    const { ETag, ChecksumCRC32 } = await listing.client.send(new UploadPartCommand(part));
    Parts.push({ PartNumber, ETag, ChecksumCRC32 });
  }
  const shown = await older.client.send(new ListPartsCommand({ ...at, UploadId }));
  assert.equal(
    shown.Parts?.map(({ ChecksumCRC32 }) => ChecksumCRC32),
    Parts.map(({ ChecksumCRC32 }) => ChecksumCRC32),
  );
  const complete = { ...at, UploadId, MultipartUpload: { Parts } };
  const { ChecksumCRC32 } = await listing.client.send(new CompleteMultipartUploadCommand(complete));
  const attributes = { ...at, ObjectAttributes: ['Checksum', 'ObjectSize', 'ObjectParts'] } as const;
  const { Checksum, ObjectSize, ObjectParts } = await older.client.send(
    new GetObjectAttributesCommand({ ...attributes, ObjectAttributes: [...attributes.ObjectAttributes] }),
  );
  assert.ok(ChecksumCRC32);
  assert.equal([Checksum?.ChecksumCRC32, ObjectSize], [ChecksumCRC32, 5 * MiB + 100]);
  assert.equal(
    ObjectParts?.Parts?.map(({ Size }) => Size),
    [5 * MiB, 100],
  );
});

test('listings know them', async () => {
  for (const via of [proxy, older]) {
    const { Contents = [] } = await via.client.send(new ListObjectsV2Command({ Bucket: bucket }));
    const shown = new Map(Contents.map(({ Key = '', Size }) => [Key, Size]));
    for (const [key, { length }] of bodies) assert.is(shown.get(key), length, key);
  }
});

test('an aborted upload leaves nothing', async () => {
  const at = { Bucket: bucket, Key: 'aborted' };
  const { UploadId } = await proxy.client.send(new CreateMultipartUploadCommand(at));
  await proxy.client.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: randomBytes(10) }));
  await proxy.client.send(new AbortMultipartUploadCommand({ ...at, UploadId }));
  assert.is((await get(proxy, 'aborted')).status, 404);
});

test.run();
