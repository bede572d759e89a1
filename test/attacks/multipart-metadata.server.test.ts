import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { assertRefused } from './support/refused.ts';
import { fileOf, type Metadata, MiB, metadataOf, plant, putParts } from './support/stored.ts';

const test = suite('metadata of large and multipart objects that was changed');
let rig: Rig;
let proxy: RiggedProxy;
/** Writes part lists into manifests. */
let pointing: RiggedProxy;
/** Streams whatever is larger than 64 KiB. */
let tight: RiggedProxy;
let strict: RiggedProxy;
let denying: RiggedProxy;

test.before(async () => {
  rig = await startRig();
  const small = ['--verify-buffer', '64KiB', '--verify-budget', '1MiB'];
  proxy = await rig.proxy();
  pointing = await rig.proxy({ args: ['--inline-limit', '0'] });
  tight = await rig.proxy({ args: small });
  strict = await rig.proxy({ args: [...small, '--strict'] });
  denying = await rig.proxy({ args: ['--unencrypted-reads', 'deny'] });
});
test.after(() => rig?.stop());

const partSizes = [5 * MiB, 2 * MiB];
const makers: Record<string, (key: string) => Promise<unknown>> = {
  'a large object': (Key) =>
    proxy.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key, Body: randomBytes(3 * MiB) })),
  'parts in the header': (key) =>
    putParts(
      proxy.s3,
      rig.bucket,
      key,
      partSizes.map((size) => randomBytes(size)),
    ),
  'parts in a manifest': (key) =>
    putParts(
      pointing.s3,
      rig.bucket,
      key,
      partSizes.map((size) => randomBytes(size)),
    ),
};

const get = (via: RiggedProxy, key: string, headers = {}) =>
  rawHttp(`${via.url}/${rig.bucket}/${key}`, { headers });

/** Before the first byte, whatever the size and the way of reading. */
async function assertUnreadable(key: string, label: string): Promise<void> {
  for (const via of [proxy, tight, strict]) {
    assertRefused(await get(via, key), label);
    assertRefused(await get(via, key, { range: `bytes=${MiB}-${MiB + 9}` }), `${label} range`);
  }
  const headers = { 'x-amz-copy-source': `/${rig.bucket}/${key}` };
  const copied = await rawHttp(`${proxy.url}/${rig.bucket}/copy`, { method: 'PUT', headers });
  assertRefused(copied, `${label} copied`);
  const copy = rig.store.client.send(new HeadObjectCommand({ Bucket: rig.bucket, Key: 'copy' }));
  assert.is(await copy.catch((error: Error) => error.name), 'NotFound', label);
}

const names = ['encrypted', 'wrapped-dek', 'algorithm', 'key-name', 'key-version'];
const edits: readonly (readonly [string, string])[] = [
  ['encrypted', 'false'],
  ['algorithm', 'none'],
  ['key-name', 'other'],
  ['key-version', '7'],
  ['binding', 'bucket-key'],
  ['binding', 'none'],
  ['wrapped-dek', '{"v":1,"parts":[]}'],
  ['wrapped-dek', '{'],
];

const without = (metadata: Metadata, gone: readonly string[]): Metadata =>
  Object.fromEntries(Object.entries(metadata).filter(([name]) => !gone.includes(name)));

for (const [kind, make] of Object.entries(makers)) {
  const key = kind.replaceAll(' ', '-');

  test(`${kind}: each header stripped or edited, and several of them`, async () => {
    await make(key);
    const [good, body] = [await metadataOf(rig, key), readFileSync(fileOf(rig, key))];
    const changed: [string, Metadata][] = [
      ...names.map((name): [string, Metadata] => [`without ${name}`, without(good, [`svc-${name}`])]),
      ...names.map((name): [string, Metadata] => {
        const others = names.filter((other) => other !== name).map((other) => `svc-${other}`);
        return [`only ${name}`, without(good, others)];
      }),
      ['without binding', without(good, ['svc-binding'])],
      ...edits.map(([name, value]): [string, Metadata] => [
        `${name}: ${value}`,
        { ...good, [`svc-${name}`]: value },
      ]),
    ];
    for (const [label, metadata] of changed) {
      await plant(rig, key, body, metadata);
      await assertUnreadable(key, label);
    }
    await plant(rig, key, body, good);
    assert.is((await get(proxy, key)).status, 200, 'put back as it was');
  });

  test(`${kind}: all headers stripped is denied, or given out as it is stored`, async () => {
    await make(key);
    const body = readFileSync(fileOf(rig, key));
    await plant(rig, key, body, {});
    for (const headers of [{}, { range: 'bytes=0-9' }])
      assertRefused(await get(denying, key, headers), kind, 403, 'AccessDenied');
    assert.ok((await get(proxy, key)).body.equals(body));
  });

  test(`${kind}: two of them exchanged with all that belongs to them`, async () => {
    const [one, two] = [`${key}-one`, `${key}-two`];
    await make(one);
    await make(two);
    const read = async (name: string) =>
      [readFileSync(fileOf(rig, name)), await metadataOf(rig, name)] as const;
    const [first, second] = [await read(one), await read(two)];
    await plant(rig, one, ...second);
    await plant(rig, two, ...first);
    for (const name of [one, two]) await assertUnreadable(name, name);
  });

  test(`${kind}: an older one put back is read: only the store could tell`, async () => {
    await make(key);
    const older = await get(proxy, key);
    const [body, metadata] = [readFileSync(fileOf(rig, key)), await metadataOf(rig, key)];
    await make(key);
    await plant(rig, key, body, metadata);
    assert.ok((await get(proxy, key)).body.equals(older.body));
  });
}

test.run();
