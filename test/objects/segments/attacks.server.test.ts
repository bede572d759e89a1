import { randomBytes } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CopyObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { segmentBytes, segmentedSize } from '../../../src/objects/format/segments.ts';
import { type Bench, bucket, MiB, startBench, type TestProxy } from '../read/support/bench.ts';
import { get, head, type ProxyResponse, put, putParts } from '../read/support/client.ts';

const test = suite('a store that cannot be trusted, and format 2');
const stored = segmentBytes + 16;
let bench: Bench;
let proxy: TestProxy;

test.before(async () => {
  bench = await startBench();
  proxy = await bench.proxy({ format: 2, inlineLimit: 0 });
});
test.after(() => bench?.stop());

const pathOf = (key: string) => join(bench.store.dataDir, bucket, key);

/** Nothing at all came, but an error. */
function assertNothing(answer: ProxyResponse, label: string): void {
  assert.is(answer.status, 500, label);
  assert.match(answer.body.toString(), '<Code>InternalError</Code>', label);
}

/** What came was a true prefix, and the caller can tell that it is one. */
function assertCut(answer: ProxyResponse, plaintext: Buffer, label: string): void {
  if (answer.status === 500) return;
  assert.is(answer.complete, false, `${label}: a complete body arrived`);
  assert.ok(answer.body.length < plaintext.length, label);
  assert.ok(
    plaintext.subarray(0, answer.body.length).equals(answer.body),
    `${label}: bytes that are not true`,
  );
}

const flip = (body: Buffer, at: number) => {
  const copy = Buffer.from(body);
  copy.writeUInt8((copy[at] ?? 0) ^ 1, at);
  return copy;
};

const segmentsOf = (body: Buffer) =>
  Array.from({ length: Math.ceil(body.length / stored) }, (_, index) =>
    body.subarray(index * stored, (index + 1) * stored),
  );

test('at every border: nothing untrue leaves, and no answer ends well', async () => {
  const plaintext = randomBytes(4 * segmentBytes + 100);
  await put(proxy, 'borders', plaintext);
  const good = readFileSync(pathOf('borders'));
  const all = segmentsOf(good);
  for (let border = 1; border < all.length; border++) {
    const [before, behind] = [all[border - 1] as Buffer, all[border] as Buffer];
    const changed: readonly [string, Buffer][] = [
      ['cut', Buffer.concat(all.slice(0, border))],
      ['cut before a tag', good.subarray(0, border * stored - 16)],
      ['cut behind a byte', good.subarray(0, border * stored + 1)],
      ['repeated', Buffer.concat([...all.slice(0, border), before, ...all.slice(border)])],
      ['dropped', Buffer.concat(all.filter((_, index) => index !== border - 1))],
      ['reordered', Buffer.concat(all.with(border - 1, behind).with(border, before))],
      ['first byte', flip(good, border * stored)],
      ['tag', flip(good, border * stored - 1)],
    ];
    for (const [what, body] of changed) {
      writeFileSync(pathOf('borders'), body);
      const label = `${what} at ${border}`;
      const whole = await get(proxy, 'borders');
      if (body.length === good.length) assertCut(whole, plaintext, label);
      else assertNothing(whole, label);
      const range = await get(proxy, 'borders', { range: `bytes=0-${segmentBytes * 2}` });
      if (body.length !== good.length) assertNothing(range, `${label}, a range`);
      else if (range.status === 206 && range.complete)
        assert.ok(range.body.equals(plaintext.subarray(0, segmentBytes * 2 + 1)), label);
      else assertCut(range, plaintext, `${label}, a range`);
    }
  }
  writeFileSync(pathOf('borders'), good);
  assert.ok((await get(proxy, 'borders')).body.equals(plaintext));
  assert.ok(proxy.refused.includes('wrong-commitment') && proxy.refused.includes('authentication-failed'));
});

test('a range knows nothing of a segment that it does not cover', async () => {
  const plaintext = randomBytes(3 * segmentBytes);
  await put(proxy, 'beside', plaintext);
  writeFileSync(pathOf('beside'), flip(readFileSync(pathOf('beside')), stored + 5));
  const first = await get(proxy, 'beside', { range: 'bytes=0-99' });
  assert.ok(first.status === 206 && first.body.equals(plaintext.subarray(0, 100)));
  assertNothing(
    await get(proxy, 'beside', { range: `bytes=${segmentBytes}-${segmentBytes + 1}` }),
    'changed',
  );
});

test('an emptied object, and an empty one that was filled, are refused', async () => {
  for (const size of [100, 0]) {
    await put(proxy, 'emptied', randomBytes(size));
    writeFileSync(pathOf('emptied'), size === 0 ? randomBytes(17) : Buffer.alloc(0));
    assertNothing(await get(proxy, 'emptied'), `of ${size}`);
  }
});

const metadataOf = async (Key: string) =>
  (await bench.store.client.send(new HeadObjectCommand({ Bucket: bucket, Key }))).Metadata ?? {};

async function storeWith(key: string, Metadata: Record<string, string>, from = key): Promise<void> {
  const Body = readFileSync(pathOf(from));
  await bench.store.client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body, Metadata }));
}

const without = (metadata: Record<string, string>, name: string) =>
  Object.fromEntries(Object.entries(metadata).filter(([each]) => each !== name));

test('an object is of the format that it was written in, whatever its metadata say', async () => {
  const older = await bench.proxy();
  for (const binding of ['key', 'none'] as const) {
    const [two, one] = [await bench.proxy({ format: 2, binding }), await bench.proxy({ binding })];
    await put(two, 'two', randomBytes(1000));
    await put(one, 'one', randomBytes(1000));
    const [ofTwo, ofOne] = [await metadataOf('two'), await metadataOf('one')];
    const derivation = ofTwo['svc-derivation'] as string;
    const [name1, name2] = ['AES-256-GCM', ofTwo['svc-algorithm'] as string];
    await storeWith('two-as-one', { ...without(ofTwo, 'svc-derivation'), 'svc-algorithm': name1 }, 'two');
    await storeWith('two', { ...without(ofTwo, 'svc-derivation'), 'svc-algorithm': name1 });
    await storeWith('one', { ...ofOne, 'svc-algorithm': name2, 'svc-derivation': derivation });
    for (const key of ['two', 'one', 'two-as-one'])
      for (const via of [proxy, older]) assertNothing(await get(via, key), `${key}, ${binding}`);
  }
});

test('salt and commitment of another object, of an older one, or none, are refused', async () => {
  const old = randomBytes(1000);
  await put(proxy, 'mixed', old);
  const [before, body] = [await metadataOf('mixed'), readFileSync(pathOf('mixed'))];
  await put(proxy, 'mixed', randomBytes(1000));
  const after = await metadataOf('mixed');
  const [salt, commitment] = (after['svc-derivation'] as string).split('.');
  const [oldSalt, oldCommitment] = (before['svc-derivation'] as string).split('.');
  for (const [label, derivation] of [
    ['of the older one', before['svc-derivation'] as string],
    ['salt of the older one', `${oldSalt}.${commitment}`],
    ['commitment of the older one', `${salt}.${oldCommitment}`],
    ['none', 'none'],
    ['one half', salt as string],
  ] as const) {
    await storeWith('mixed', { ...after, 'svc-derivation': derivation });
    assertNothing(await get(proxy, 'mixed'), label);
    assertNothing(await get(proxy, 'mixed', { range: 'bytes=0-1' }), `${label}, range`);
  }
  await storeWith('mixed', without(after, 'svc-derivation'));
  assertNothing(await get(proxy, 'mixed'), 'missing');
  writeFileSync(pathOf('mixed'), body);
  await storeWith('mixed', before);
  assert.ok((await get(proxy, 'mixed')).body.equals(old), 'an older object as a whole is not noticed');
});

test('an object under another name, and with the body of another, is refused', async () => {
  await put(proxy, 'a', randomBytes(70_000));
  await put(proxy, 'b', randomBytes(70_000));
  const copy = { Bucket: bucket, Key: 'c', CopySource: `${bucket}/a` };
  await bench.store.client.send(new CopyObjectCommand(copy));
  assertNothing(await get(proxy, 'c'), 'another name');
  copyFileSync(pathOf('b'), pathOf('a'));
  assertNothing(await get(proxy, 'a'), 'another body');
});

test('parts that were changed, exchanged or cut are refused before or where they begin', async () => {
  const sizes = [5 * MiB, 5 * MiB, 200_000];
  const plaintext = await putParts(proxy, 'parts', sizes);
  const other = await putParts(proxy, 'other', sizes);
  const good = readFileSync(pathOf('parts'));
  const part = segmentedSize(5 * MiB);
  const others = readFileSync(pathOf('other'));
  for (const [label, body] of [
    [
      'swapped',
      Buffer.concat([good.subarray(part, 2 * part), good.subarray(0, part), good.subarray(2 * part)]),
    ],
    ['repeated', Buffer.concat([good.subarray(0, part), good.subarray(0, part), good.subarray(2 * part)])],
    ['of another upload', Buffer.concat([good.subarray(0, part), others.subarray(part)])],
    ['first byte of the second', flip(good, part)],
    ['last tag of the first', flip(good, part - 1)],
  ] as const) {
    writeFileSync(pathOf('parts'), body);
    assertCut(await get(proxy, 'parts'), plaintext, label);
    const [start, end] = [5 * MiB - 10, 5 * MiB + 10];
    const range = await get(proxy, 'parts', { range: `bytes=${start}-${end}` });
    assert.not.ok(range.status === 206 && range.complete, `${label}, range`);
  }
  for (const body of [good.subarray(0, 2 * part), good.subarray(0, 2 * part + stored), Buffer.alloc(0)]) {
    writeFileSync(pathOf('parts'), body);
    assertNothing(await get(proxy, 'parts'), `cut to ${body.length}`);
    assert.is((await head(proxy, 'parts')).status, 500);
  }
  assert.ok(other.length > 0);
});

test.run();
