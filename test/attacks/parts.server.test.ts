import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clientsFor } from '../support/clients.ts';
import { rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { assertBroken, assertRefused } from './support/refused.ts';
import {
  complete,
  editMetadata,
  fileOf,
  flip,
  MiB,
  metadataOf,
  overhead,
  plant,
  putParts,
  sendParts,
} from './support/stored.ts';

const test = suite('stored multipart objects that were changed');
const partSize = 5 * MiB;
const stored = partSize + overhead;
let rig: Rig;
/** Part lists inline, in the object's own header. */
let inline: RiggedProxy;
/** Part lists in manifests. */
let pointing: RiggedProxy;
let strict: RiggedProxy;

test.before(async () => {
  rig = await startRig();
  inline = await rig.proxy();
  pointing = await rig.proxy({ args: ['--inline-limit', '0'] });
  strict = await rig.proxy({ args: ['--strict', '--inline-limit', '0', '--verify-buffer', '64KiB'] });
});
test.after(() => rig?.stop());

const bodies = (...sizes: number[]) => sizes.map((size) => randomBytes(size));

const get = (via: RiggedProxy, key: string, range?: string) =>
  rawHttp(`${via.url}/${rig.bucket}/${key}`, { headers: range === undefined ? {} : { range } });

const listOf = (metadata: Record<string, string>) => JSON.parse(metadata['svc-wrapped-dek'] ?? '');

async function manifestFile(key: string): Promise<string> {
  const { manifest } = listOf(await metadataOf(rig, key));
  const list = new ListObjectsV2Command({ Bucket: rig.bucket, Prefix: '.svc/manifests/' });
  const { Contents = [] } = await rig.store.client.send(list);
  const found = Contents.find(({ Key = '' }) => Key.endsWith(manifest))?.Key;
  assert.ok(found, 'the object has no manifest');
  return fileOf(rig, found ?? '');
}

/** Places change, bytes stay: parts one and two have the same length. */
const partsSwapped = (body: Buffer) =>
  Buffer.concat([body.subarray(stored, 2 * stored), body.subarray(0, stored), body.subarray(2 * stored)]);
const partRepeated = (body: Buffer) =>
  Buffer.concat([body.subarray(0, stored), body.subarray(0, stored), body.subarray(2 * stored)]);

const bodyEdits = (other: Buffer): readonly (readonly [string, (body: Buffer) => Buffer])[] => [
  ['first part', flip(100)],
  ['nonce of the second', flip(stored + 3)],
  ['tag of the second', flip(2 * stored - 1)],
  ['last part', flip(-40)],
  ['last part cut off', (body) => body.subarray(0, 2 * stored)],
  ['cut in the second', (body) => body.subarray(0, stored + 1000)],
  ['emptied', () => Buffer.alloc(0)],
  ['extended', (body) => Buffer.concat([body, Buffer.alloc(28)])],
  ['swapped', partsSwapped],
  ['repeated', partRepeated],
  ['a part of another upload', (body) => Buffer.concat([other.subarray(0, stored), body.subarray(stored)])],
];

for (const form of ['inline', 'pointer'] as const)
  test(`parts that were changed, moved, repeated or taken from elsewhere do not arrive (${form})`, async () => {
    const via = form === 'inline' ? inline : pointing;
    const key = `body-${form}`;
    await putParts(via.s3, rig.bucket, key, bodies(partSize, partSize, 4000));
    const other = readFileSync(fileOf(rig, key));
    await putParts(via.s3, rig.bucket, key, bodies(partSize, partSize, 4000));
    assert.is('parts' in listOf(await metadataOf(rig, key)), form === 'inline');
    const good = readFileSync(fileOf(rig, key));
    for (const [label, edit] of bodyEdits(other)) {
      writeFileSync(fileOf(rig, key), edit(good));
      const answer = await get(via, key);
      if (['first part', 'swapped', 'a part of another upload'].includes(label)) assertRefused(answer, label);
      assertBroken(answer, label);
      assertRefused(await get(strict, key), `${label} strict`);
    }
    writeFileSync(fileOf(rig, key), good);
    assert.is((await get(via, key)).complete, true);
  });

test('under --strict not a byte leaves when any of the parts that are read is broken', async () => {
  const parts = bodies(partSize, partSize, 4000);
  await putParts(strict.s3, rig.bucket, 'strict', parts);
  const whole = Buffer.concat(parts);
  const across = [partSize - 10, 2 * partSize + 10] as const;
  const range = `bytes=${across[0]}-${across[1]}`;
  assert.ok((await get(strict, 'strict')).body.equals(whole));
  assert.ok((await get(strict, 'strict', range)).body.equals(whole.subarray(across[0], across[1] + 1)));
  writeFileSync(fileOf(rig, 'strict'), flip(-20)(readFileSync(fileOf(rig, 'strict'))));
  assertRefused(await get(strict, 'strict'), 'whole');
  assertRefused(await get(strict, 'strict', range), 'range');
  const first = await get(strict, 'strict', `bytes=0-${2 * partSize - 1}`);
  assert.ok(first.body.equals(whole.subarray(0, 2 * partSize)), 'the parts that are whole');
});

test('a range of a changed part is refused, one of the others is right', async () => {
  const parts = bodies(partSize, partSize, 4000);
  for (const [via, key] of [
    [inline, 'ranges-inline'],
    [pointing, 'ranges-pointer'],
    [strict, 'ranges-strict'],
  ] as const) {
    await putParts(via.s3, rig.bucket, key, parts);
    writeFileSync(fileOf(rig, key), flip(stored + 100)(readFileSync(fileOf(rig, key))));
    assertRefused(await get(via, key, `bytes=${partSize + 10}-${partSize + 20}`), key);
    assertRefused(await rawHttp(`${via.url}/${rig.bucket}/${key}?partNumber=2`), `${key} by part number`);
    const { status, body } = await get(via, key, `bytes=${2 * partSize}-`);
    assert.is(status, 206);
    assert.equal(body, parts[2]);
  }
});

test('boto3 does not take a multipart object with a broken part for whole', async () => {
  await putParts(pointing.s3, rig.bucket, 'boto3-parts', bodies(partSize, partSize, 4000));
  writeFileSync(fileOf(rig, 'boto3-parts'), flip(2 * stored + 30)(readFileSync(fileOf(rig, 'boto3-parts'))));
  const clients = clientsFor(pointing.target);
  try {
    const { stdout, stderr } = await clients.boto3(`
try:
    print(len(s3.get_object(Bucket='bucket', Key='boto3-parts')['Body'].read()))
except Exception as error:
    print('refused', type(error).__name__)`);
    assert.match(stdout, 'refused', stderr);
  } finally {
    await clients.stop();
  }
});

type Part = { n: number; dek: string; nonce: string; size: number };
type List = { v: number; manifest: string; parts: Part[]; seal: string; mac: string };

const firstTwo = (list: List): [Part, Part] => [list.parts[0] as Part, list.parts[1] as Part];
const zeroMac = Buffer.alloc(32).toString('base64');

/** Each field of a part list, edited to something that has the right form. */
const listEdits: readonly (readonly [string, (list: List) => void])[] = [
  ['order', (list) => list.parts.reverse()],
  [
    'order with numbers kept',
    (list) => {
      const [one, two] = firstTwo(list);
      list.parts.splice(0, 2, { ...two, n: one.n }, { ...one, n: two.n });
    },
  ],
  ['a part dropped', (list) => void list.parts.pop()],
  ['a part repeated', (list) => void list.parts.push({ ...firstTwo(list)[1], n: 9 })],
  ['number', (list) => void Object.assign(firstTwo(list)[1], { n: 7 })],
  [
    'sizes shifted',
    (list) => {
      firstTwo(list)[0].size -= 1;
      firstTwo(list)[1].size += 1;
    },
  ],
  ['size negative', (list) => void Object.assign(firstTwo(list)[0], { size: -1 })],
  ['nonce', (list) => void Object.assign(firstTwo(list)[0], { nonce: Buffer.alloc(12).toString('base64') })],
  ['key', (list) => void Object.assign(firstTwo(list)[0], { dek: firstTwo(list)[1].dek })],
  ['seal', (list) => void Object.assign(list, { seal: firstTwo(list)[0].dek })],
  ['mac', (list) => void Object.assign(list, { mac: zeroMac })],
  ['manifest id', (list) => void Object.assign(list, { manifest: 'A'.repeat(22) })],
  ['version', (list) => void Object.assign(list, { v: 2 })],
  ['no parts', (list) => void Object.assign(list, { parts: [] })],
];

test('an inline part list with any field edited is refused', async () => {
  await putParts(inline.s3, rig.bucket, 'inline-edited', bodies(partSize, 5000));
  const good = await metadataOf(rig, 'inline-edited');
  const body = readFileSync(fileOf(rig, 'inline-edited'));
  for (const [label, edit] of listEdits) {
    const list = listOf(good);
    edit(list);
    await plant(rig, 'inline-edited', body, { ...good, 'svc-wrapped-dek': JSON.stringify(list) });
    assertRefused(await get(inline, 'inline-edited'), label);
    assertRefused(await get(inline, 'inline-edited', 'bytes=0-9'), `${label} range`);
  }
});

test('a manifest with any field edited, made unreadable, replayed or deleted is refused', async () => {
  await putParts(pointing.s3, rig.bucket, 'edited', bodies(partSize, 5000));
  await putParts(pointing.s3, rig.bucket, 'another', bodies(partSize, 5000));
  const file = await manifestFile('edited');
  const good = readFileSync(file, 'utf8');
  const whole = JSON.parse(good);
  const another = JSON.parse(readFileSync(await manifestFile('another'), 'utf8'));
  const texts: [string, string][] = listEdits.map(([label, edit]) => {
    const { list, ...names } = structuredClone(whole);
    edit(list);
    return [label, JSON.stringify({ ...names, list })];
  });
  texts.push(
    ['bucket', JSON.stringify({ ...whole, bucket: 'other' })],
    ['key', JSON.stringify({ ...whole, key: 'another' })],
    ["another object's", JSON.stringify(another)],
    ["another object's list", JSON.stringify({ ...whole, list: another.list })],
    ['cut', good.slice(0, -1)],
    ['empty', ''],
    ['no JSON object', 'null'],
    ['deeply nested', '['.repeat(100_000)],
    ['too large', JSON.stringify({ ...whole, more: 'x'.repeat(9 * MiB) })],
  );
  for (const [label, text] of texts) {
    writeFileSync(file, text);
    assertRefused(await get(pointing, 'edited'), label);
    assertRefused(await get(pointing, 'edited', 'bytes=0-9'), `${label} range`);
  }
  renameSync(file, `${file}-gone`);
  assert.is(existsSync(file), false);
  assertRefused(await get(pointing, 'edited'), 'deleted');
  assert.match(pointing.output(), 'manifest-missing');
  writeFileSync(file, good);
  assert.is((await get(pointing, 'edited')).status, 200);
});

test('an object that points to the manifest of another one is refused', async () => {
  await putParts(pointing.s3, rig.bucket, 'pointer-a', bodies(partSize, 5000));
  await putParts(pointing.s3, rig.bucket, 'pointer-b', bodies(partSize, 5000));
  const foreign = await metadataOf(rig, 'pointer-b');
  await editMetadata(rig, 'pointer-a', (metadata) => Object.assign(metadata, foreign));
  assertRefused(await get(pointing, 'pointer-a'), 'pointer');
});

test('an object of one upload under the metadata of another upload of the same key is refused', async () => {
  const first = await sendParts(inline.s3, rig.bucket, 'mixed', bodies(partSize, 5000));
  await complete(inline.s3, rig.bucket, 'mixed', first);
  const older = readFileSync(fileOf(rig, 'mixed'));
  await putParts(inline.s3, rig.bucket, 'mixed', bodies(partSize, 5000));
  await plant(rig, 'mixed', older, await metadataOf(rig, 'mixed'));
  assertRefused(await get(inline, 'mixed'), 'older body, newer list');
});

test.run();
