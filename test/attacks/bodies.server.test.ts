import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clientsFor } from '../support/clients.ts';
import { rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { assertBroken, assertRefused } from './support/refused.ts';
import { fileOf, flip, MiB } from './support/stored.ts';

const test = suite('stored bodies that were changed');
let rig: Rig;
/** As it is by default. */
let proxy: RiggedProxy;
/** Streams whatever is larger than 64 KiB. */
let tight: RiggedProxy;
let strict: RiggedProxy;

test.before(async () => {
  rig = await startRig();
  const small = ['--verify-buffer', '64KiB', '--verify-budget', '1MiB'];
  proxy = await rig.proxy();
  tight = await rig.proxy({ args: small });
  strict = await rig.proxy({ args: [...small, '--strict'] });
});
test.after(() => rig?.stop());

const put = (key: string, body: Uint8Array) =>
  proxy.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key: key, Body: body }));

const get = (via: RiggedProxy, key: string, range?: string) =>
  rawHttp(`${via.url}/${rig.bucket}/${key}`, { headers: range === undefined ? {} : { range } });

type Edit = readonly [label: string, edit: (stored: Buffer) => Uint8Array];

const edits = (size: number): readonly Edit[] => [
  ['nonce', flip(5)],
  ['first byte', flip(12)],
  ['middle', flip(12 + (size >> 1))],
  ['last byte', flip(-17)],
  ['tag', flip(-1)],
  ['cut by one', (stored) => stored.subarray(0, -1)],
  ['cut to the half', (stored) => stored.subarray(0, size >> 1)],
  ['cut to nonce and tag', (stored) => stored.subarray(0, 28)],
  ['cut below nonce and tag', (stored) => stored.subarray(0, 27)],
  ['emptied', () => new Uint8Array(0)],
  ['extended', (stored) => Buffer.concat([stored, Buffer.alloc(1)])],
  ['doubled', (stored) => Buffer.concat([stored, stored])],
];

/** Tries each change of the stored file; the file is whole again afterwards. */
async function afterEach(
  key: string,
  changes: readonly Edit[],
  check: (label: string) => Promise<void>,
): Promise<void> {
  const path = fileOf(rig, key);
  const good = readFileSync(path);
  for (const [label, edit] of changes) {
    writeFileSync(path, edit(good));
    await check(label);
  }
  writeFileSync(path, good);
}

test('an object within the verify buffer is refused before its first byte', async () => {
  await put('small', randomBytes(20_000));
  await afterEach('small', edits(20_000), async (label) => {
    for (const via of [proxy, tight, strict]) assertRefused(await get(via, 'small'), label);
    for (const range of ['bytes=0-9', 'bytes=19000-', 'bytes=-1']) {
      assertRefused(await get(proxy, 'small', range), `${label} ${range}`);
    }
  });
  assert.is((await get(proxy, 'small')).status, 200);
});

test('an object above the verify buffer never arrives whole, and under --strict not a byte of it', async () => {
  const size = 3 * MiB;
  await put('middling', randomBytes(size));
  await afterEach('middling', edits(size), async (label) => {
    assertRefused(await get(proxy, 'middling'), label);
    assertBroken(await get(tight, 'middling'), `${label} streamed`);
    assertRefused(await get(strict, 'middling'), `${label} strict`);
    for (const range of ['bytes=0-9', 'bytes=3000000-']) {
      assertRefused(await get(strict, 'middling', range), `${label} strict ${range}`);
    }
    assertRefused(await get(tight, 'middling', 'bytes=0-9'), `${label} range`);
  });
});

test('a small object that the store makes large never arrives whole, and under --strict not a byte of it', async () => {
  await put('grown', randomBytes(20_000));
  const grow = (bytes: number) => (stored: Buffer) => Buffer.concat([stored, randomBytes(bytes)]);
  const larger: readonly Edit[] = [
    ['above the buffer by one', grow(64 * 1024 - 20_000 + 1)],
    ['many times as large', grow(MiB)],
    [
      'its own bytes at the end',
      (stored) => Buffer.concat([stored.subarray(0, 12), randomBytes(MiB), stored]),
    ],
  ];
  let left = 0;
  await afterEach('grown', larger, async (label) => {
    const streamed = await get(tight, 'grown');
    assertBroken(streamed, label);
    left += streamed.body.length;
    assertRefused(await get(proxy, 'grown'), `${label} within the buffer`);
    assertRefused(await get(strict, 'grown'), `${label} strict`);
    assertRefused(await get(tight, 'grown', 'bytes=0-9'), `${label} range`);
  });
  assert.ok(left > 0, 'the page of the proxy says that bytes leave: none did');
});

test('a single PUT above the default verify buffer never arrives whole', async () => {
  const size = 20 * MiB;
  await put('large', randomBytes(size));
  const telling = edits(size).filter(([label]) =>
    ['first byte', 'tag', 'cut by one', 'extended'].includes(label),
  );
  await afterEach('large', telling, async (label) => {
    assertBroken(await get(proxy, 'large'), label);
    assertRefused(await get(strict, 'large'), `${label} strict`);
    assertRefused(await get(proxy, 'large', 'bytes=100-200'), `${label} range`);
  });
});

test('boto3 does not take a broken transfer for the object', async () => {
  const clients = clientsFor(proxy.target);
  await put('for-boto3', randomBytes(20 * MiB));
  const script = `
out = {}
for kind in ('read', 'download'):
    try:
        if kind == 'read':
            out[kind] = len(s3.get_object(Bucket='bucket', Key='for-boto3')['Body'].read())
        else:
            s3.download_file('bucket', 'for-boto3', 'file')
            out[kind] = os.path.getsize('file')
    except Exception as error:
        out[kind] = type(error).__name__
print(json.dumps(out))`;
  try {
    await afterEach('for-boto3', [['tag', flip(-1)]], async () => {
      const { stdout, stderr } = await clients.boto3(script);
      for (const outcome of Object.values(JSON.parse(stdout || '{}'))) assert.type(outcome, 'string', stderr);
    });
  } finally {
    await clients.stop();
  }
});

test('two stored bodies exchanged are refused', async () => {
  await put('one', randomBytes(5000));
  await put('two', randomBytes(5000));
  const [one, two] = [readFileSync(fileOf(rig, 'one')), readFileSync(fileOf(rig, 'two'))];
  writeFileSync(fileOf(rig, 'one'), two);
  writeFileSync(fileOf(rig, 'two'), one);
  assertRefused(await get(proxy, 'one'), 'one');
  assertRefused(await get(proxy, 'two'), 'two');
});

test.run();
