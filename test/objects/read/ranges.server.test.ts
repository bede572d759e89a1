import { randomBytes } from 'node:crypto';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { repetitions } from '../../support/repetitions.ts';
import { type Bench, bucket, MiB, startBench, type TestProxy } from './support/bench.ts';
import { get, put, putParts } from './support/client.ts';

const test = suite('ranges');
let bench: Bench;
let proxy: TestProxy;
/** Bodies above 256 KiB are large here, so that every strategy is used without large objects. */
let tight: TestProxy;
let strict: TestProxy;
const partSizes = [5 * MiB, 5 * MiB + 1, 5 * MiB + 70_000, 300_000];
const bodies = new Map<string, Buffer>();

test.before(async () => {
  bench = await startBench();
  proxy = await bench.proxy();
  tight = await bench.proxy({ verifyBuffer: 256 * 1024, verifyBudget: 1 * MiB });
  strict = await bench.proxy({ verifyBuffer: 256 * 1024, verifyBudget: 1 * MiB, strict: true });
  for (const [key, size] of Object.entries({ tiny: 1, small: 1000, medium: 700_000, large: 3 * MiB + 5 })) {
    const body = randomBytes(size);
    bodies.set(key, body);
    await put(proxy, key, body);
  }
  bodies.set('parts', await putParts(proxy, 'parts', partSizes));
});
test.after(() => bench?.stop());

async function check(via: TestProxy, key: string, range: string, start: number, end: number): Promise<void> {
  const body = bodies.get(key) as Buffer;
  const answer = await get(via, key, { range });
  const label = `${key} ${range}`;
  assert.is(answer.status, 206, label);
  assert.is(answer.headers['content-range'], `bytes ${start}-${end}/${body.length}`, label);
  assert.is(answer.headers['content-length'], String(end - start + 1), label);
  assert.ok(answer.body.equals(body.subarray(start, end + 1)), label);
}

test('every edge around the borders of parts', async () => {
  const size = (bodies.get('parts') as Buffer).length;
  let border = 0;
  const edges = new Set<number>([0, 1, size - 2, size - 1]);
  for (const part of partSizes.slice(0, -1)) {
    border += part;
    for (const near of [-2, -1, 0, 1]) edges.add(border + near);
  }
  const sorted = [...edges].sort((a, b) => a - b);
  for (const start of sorted)
    for (const end of sorted.filter((edge) => edge >= start).slice(0, 5))
      await check(proxy, 'parts', `bytes=${start}-${end}`, start, end);
});

test('open, suffix and overlong ranges', async () => {
  for (const [key, { length }] of [...bodies].map(([key, body]) => [key, body] as const)) {
    await check(proxy, key, 'bytes=0-', 0, length - 1);
    await check(proxy, key, 'bytes=-1', length - 1, length - 1);
    await check(proxy, key, `bytes=-${length + 5}`, 0, length - 1);
    await check(proxy, key, `bytes=${length - 1}-${length + 100}`, length - 1, length - 1);
  }
});

test('what cannot be satisfied is 416 with the plaintext size', async () => {
  for (const [key, { length }] of bodies)
    for (const range of [`bytes=${length}-`, `bytes=${length + 9}-${length + 10}`, 'bytes=-0']) {
      const answer = await get(proxy, key, { range });
      assert.equal([answer.status, answer.headers['content-range']], [416, `bytes */${length}`], range);
      assert.match(answer.body.toString(), '<Code>InvalidRange</Code>');
    }
});

test('what S3 ignores answers the whole', async () => {
  for (const range of ['bytes=5-2', 'bytes=0-1,5-6', 'lines=1-2', 'bytes=x-']) {
    const answer = await get(proxy, 'small', { range });
    assert.equal([answer.status, answer.body], [200, bodies.get('small')], range);
  }
});

test('any range equals the slice of the plaintext, by every strategy', async () => {
  const cases = fc.tuple(
    fc.constantFrom('tiny', 'small', 'medium', 'large', 'parts'),
    fc.nat({ max: 0x7fffffff }),
    fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 0x7fffffff })),
    fc.nat({ max: 2 }),
  );
  await fc.assert(
    fc.asyncProperty(cases, async ([key, from, span, which]) => {
      const { length } = bodies.get(key) as Buffer;
      const start = from % length;
      const end = Math.min(start + (span % length), length - 1);
      const via = [proxy, tight, strict][which] as TestProxy;
      await check(via, key, `bytes=${start}-${end}`, start, end);
    }),
    { numRuns: 150 },
  );
});

test('the whole is right by every strategy', async () => {
  for (const via of [tight, strict])
    for (const [key, body] of bodies) {
      const answer = await get(via, key);
      assert.is(answer.status, 200);
      assert.ok(answer.body.equals(body), key);
    }
});

test('many ranges of 8 MiB at once fetch the object once', async () => {
  const fresh = await bench.proxy();
  const body = randomBytes(repetitions(36, 100) * MiB);
  await put(fresh, 'many-ranges', body);
  bench.log.clear();
  const step = 8 * MiB;
  const ranges = Array.from({ length: Math.ceil(body.length / step) }, (_, index) => index * step);
  const pieces = await inPool(10, ranges, async (start) => {
    const end = Math.min(start + step, body.length) - 1;
    const { Body } = await fresh.client.send(
      new GetObjectCommand({ Bucket: bucket, Key: 'many-ranges', Range: `bytes=${start}-${end}` }),
    );
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  });
  assert.ok(Buffer.concat(pieces).equals(body));
  assert.ok(bench.log.fetchedBytes() <= 1.2 * body.length, `${bench.log.fetchedBytes()} bytes fetched`);
});

test('a range in one part of many fetches that part', async () => {
  const fresh = await bench.proxy();
  bench.log.clear();
  const start = 5 * MiB + 100;
  await check(fresh, 'parts', `bytes=${start}-${start + 4095}`, start, start + 4095);
  const gets = bench.log.matching('GET', /^\/data\/parts/);
  assert.equal(
    gets.map(({ responseBytes }) => responseBytes),
    [5 * MiB + 1 + 28],
  );
});

test('without room on disk ranges still come, and not under --strict', async () => {
  const cramped = { spoolSize: 64 * 1024, verifyBuffer: 256 * 1024 };
  const free = await bench.proxy(cramped);
  await check(free, 'large', 'bytes=1000000-1000999', 1_000_000, 1_000_999);
  const bound = await bench.proxy({ ...cramped, strict: true });
  const answer = await get(bound, 'large', { range: 'bytes=5-9' });
  assert.equal([answer.status, answer.body.includes('<Code>SlowDown</Code>')], [503, true]);
  assert.is((await get(bound, 'large')).status, 503);
});

test('a spool folder that is gone does not stop reading', async () => {
  const lost = await bench.proxy({ spoolDir: '/nonexistent/spool' });
  await check(lost, 'large', 'bytes=7-2000000', 7, 2_000_000);
});

test('an object replaced between two ranges is read anew', async () => {
  const fresh = await bench.proxy();
  const first = randomBytes(2 * MiB);
  const second = randomBytes(2 * MiB);
  await put(fresh, 'replaced', first);
  const before = await get(fresh, 'replaced', { range: 'bytes=10-19' });
  await put(fresh, 'replaced', second);
  const after = await get(fresh, 'replaced', { range: 'bytes=10-19' });
  assert.equal([before.body, after.body], [first.subarray(10, 20), second.subarray(10, 20)]);
});

async function inPool<T, R>(size: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = [...items.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: size }, worker));
  return results;
}

test.run();
