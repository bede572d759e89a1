import { randomBytes } from 'node:crypto';
import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type MeddlingStore, type StoreAnswer, startMeddlingStore } from '../support/meddling-store.ts';
import { rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { assertBroken, assertRefused } from './support/refused.ts';
import { MiB, overhead, putParts } from './support/stored.ts';

const test = suite('a store that lies about sizes');
const partSize = 5 * MiB;
let rig: Rig;
let store: MeddlingStore;
/** By what reading rests on: memory and spool, a stream from the store, the disk. */
let proxies: Readonly<Record<'default' | 'streaming' | 'strict', RiggedProxy>>;

test.before(async () => {
  rig = await startRig();
  store = await startMeddlingStore(rig.store.url);
  const { region, accessKeyId, secretAccessKey } = rig.store;
  const upstream = { endpoint: store.url, region, accessKeyId, secretAccessKey };
  const small = ['--verify-buffer', '64KiB', '--verify-budget', '1MiB', '--inline-limit', '0'];
  proxies = {
    default: await rig.proxy({ upstream }),
    streaming: await rig.proxy({ upstream, args: [...small, '--spool-size', '64KiB'] }),
    strict: await rig.proxy({ upstream, args: [...small, '--strict'] }),
  };
});
test.after(async () => {
  await rig?.stop();
  await store?.stop();
});
test.after.each(() => store.meddle(undefined));

const named = (answer: StoreAnswer, headers: Record<string, string>): StoreAnswer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});

/** What the store says of an object that it holds: the length in HEAD alone, or in GET too with a body that fits. */
function claim(key: string, by: number, everywhere: boolean): void {
  store.meddle({
    after: (request, answer) => {
      if (!request.path.startsWith(`/${rig.bucket}/${key}`) || answer.status >= 300) return answer;
      const length = Math.max(Number(answer.headers['content-length']) + by, overhead);
      if (request.method === 'HEAD') return named(answer, { 'content-length': String(length) });
      if (request.method !== 'GET' || !everywhere || answer.status !== 200) return answer;
      const body = Buffer.concat([answer.body, Buffer.alloc(Math.max(by, 0))]).subarray(0, length);
      return { ...named(answer, { 'content-length': String(length) }), body };
    },
  });
}

const get = (via: RiggedProxy, key: string, headers: Record<string, string>, query = '') =>
  rawHttp(`${via.url}/${rig.bucket}/${key}${query}`, { headers });

/** Open, closed and suffix ranges; the last two lie beyond what a store that says less than it has would admit. */
const rangesOf = (size: number): readonly string[] => [
  'bytes=0-9',
  'bytes=0-',
  `bytes=${size >> 1}-`,
  'bytes=-10',
  `bytes=${size - 1000}-`,
  `bytes=${size - 500}-${size - 400}`,
];

const inHead = false;
const everywhere = true;
const claims = (
  size: number,
): readonly (readonly [by: number, where: boolean, ranges: readonly string[]])[] => [
  [-1000, inHead, rangesOf(size)],
  [-1000, everywhere, rangesOf(size)],
  [1000, inHead, ['bytes=-10']],
  [1000, everywhere, ['bytes=-10']],
  [-size, everywhere, ['bytes=0-9', 'bytes=-10']],
];

for (const [kind, size, earlier] of [
  ['small', 20_000, false],
  ['middling', MiB + 5000, false],
  ['middling', MiB + 5000, true],
] as const)
  test(`ranges of a ${kind} object ${earlier ? 'after' : 'without'} an earlier read are refused`, async () => {
    for (const [name, via] of Object.entries(proxies)) {
      const check = name === 'streaming' ? assertBroken : assertRefused;
      const key = `${kind}-${earlier}-${name}`;
      await via.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key: key, Body: randomBytes(size) }));
      const { headers } = await rawHttp(`${via.url}/${rig.bucket}/${key}`, { method: 'HEAD' });
      if (earlier) assert.is((await get(via, key, { range: 'bytes=1-2' })).status, 206);
      for (const [by, where, ranges] of claims(size)) {
        claim(key, by, where);
        const label = `${name} ${by} ${where ? 'everywhere' : 'in HEAD'}`;
        for (const range of ranges) check(await get(via, key, { range }), `${label} ${range}`);
        const conditional = { range: 'bytes=-10', 'if-range': String(headers.etag) };
        check(await get(via, key, conditional), `${label} If-Range`);
        check(
          await get(via, key, { ...conditional, 'if-range': '"another"' }),
          `${label} If-Range otherwise`,
        );
        check(await get(via, key, {}, '?partNumber=1'), `${label} partNumber`);
        store.meddle(undefined);
      }
    }
  });

test('parts tell their own sizes: no claim about the whole counts', async () => {
  for (const [name, via] of Object.entries(proxies)) {
    const key = `parts-${name}`;
    await putParts(via.s3, rig.bucket, key, [randomBytes(partSize), randomBytes(4000)]);
    for (const by of [-1000, 1000, -4028])
      for (const range of [
        'bytes=0-9',
        'bytes=-10',
        `bytes=${partSize + 3500}-`,
        `bytes=${partSize + 9000}-`,
      ]) {
        const label = `${name} ${by} ${range}`;
        claim(key, by, true);
        assertRefused(await get(via, key, { range }), label);
        store.meddle(undefined);
      }
  }
});

const bodies = { 'of-nothing': 0, 'of-little': 20_000, 'of-more': MiB + 5000 } as const;

test('a range beyond the end is told the size that was verified, with a HEAD too', async () => {
  for (const [name, via] of Object.entries(proxies)) {
    for (const [key, size] of Object.entries(bodies)) {
      await via.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key: key, Body: randomBytes(size) }));
      for (const range of [`bytes=${size}-`, 'bytes=-0']) {
        const label = `${name} ${key} ${range}`;
        for (const method of ['GET', 'HEAD']) {
          const answer = await rawHttp(`${via.url}/${rig.bucket}/${key}`, { method, headers: { range } });
          assert.is(answer.status, 416, label);
          assert.is(answer.headers['content-range'], `bytes */${size}`, label);
          for (const by of method === 'HEAD' ? [-size, -1000] : [-size, -1000, 77]) {
            claim(key, by, true);
            const lied = await rawHttp(`${via.url}/${rig.bucket}/${key}`, { method, headers: { range } });
            store.meddle(undefined);
            if (size > 0) assert.is(lied.status, 500, `${label} ${by} ${method}`);
          }
        }
      }
    }
  }
});

test("a 416 of the store's own is not passed on, because it was not asked for a range", async () => {
  const body = randomBytes(5000);
  const at = { Bucket: rig.bucket, Key: 'whole' };
  await proxies.default.s3.send(new PutObjectCommand({ ...at, Body: body }));
  store.meddle({
    before: ({ path }) =>
      path.startsWith('/bucket/whole')
        ? { status: 416, headers: { 'content-range': 'bytes */1000' }, body: Buffer.alloc(0) }
        : undefined,
  });
  for (const [name, via] of Object.entries(proxies)) {
    for (const headers of [{ range: 'bytes=1000-' }, {}])
      assertRefused(await get(via, 'whole', headers), name);
    const head = await rawHttp(`${via.url}/bucket/whole`, {
      method: 'HEAD',
      headers: { range: 'bytes=1000-' },
    });
    assert.is(head.status, 500, name);
  }
});

for (const [status, code] of [
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [429, 'SlowDown'],
] as const)
  test(`a listing fails as the store does when a size is answered with ${status}`, async () => {
    const { s3 } = proxies.default;
    const Bucket = `failing-${status}`;
    await rig.store.createBucket(Bucket);
    for (const Key of ['a', 'b']) await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'hello' }));
    const failed = { status, headers: { 'content-length': '0' }, body: Buffer.alloc(0) };
    store.meddle({
      before: ({ method, path }) => (method === 'HEAD' && path === `/${Bucket}/b` ? failed : undefined),
    });
    const refused = await rawHttp(`${proxies.default.url}/${Bucket}?list-type=2`);
    assert.is(refused.status, status);
    assert.match(refused.body.toString(), new RegExp(`<Code>${code}</Code>`));
    store.meddle(undefined);
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket }));
    assert.equal(
      Contents?.map(({ Size }) => Size),
      [5, 5],
    );
  });

test.run();
