import { randomBytes } from 'node:crypto';
import {
  type ChecksumAlgorithm as Algorithm,
  ChecksumAlgorithm,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createChecksum, loadChecksums } from '../../src/objects/s3/checksum.ts';
import { rawHttp } from '../support/raw-http.ts';
import { storeKinds } from '../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const Bucket = 'bucket';
const algorithms = Object.values(ChecksumAlgorithm);
const lower = (algorithm: Algorithm) => algorithm.toLowerCase() as Parameters<typeof createChecksum>[0];

function digest(algorithm: Algorithm, ...data: readonly Buffer[]): Buffer {
  const running = createChecksum(lower(algorithm));
  for (const piece of data) running.update(piece);
  return running.digest();
}

const sumOf = (algorithm: Algorithm, body: Buffer) => ({
  [`Checksum${algorithm}`]: digest(algorithm, body).toString('base64'),
});

/** The checksums in an answer of an SDK. */
const told = (answer: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(answer).filter(
      ([name, value]) =>
        name.startsWith('Checksum') && typeof value === 'string' && name !== 'ChecksumAlgorithm',
    ),
  );

const inParts = [
  ['CRC32', 'FULL_OBJECT'],
  ['CRC64NVME', 'FULL_OBJECT'],
  ['SHA512', 'COMPOSITE'],
  ['XXHASH3', 'COMPOSITE'],
  ['CRC32C', 'COMPOSITE'],
] as const satisfies readonly (readonly [Algorithm, string])[];
/** A store is told of no checksum: to another store one of each type looks like all of them. */
const alsoOnMinio: readonly Algorithm[] = ['CRC64NVME', 'SHA512'];

for (const kind of storeKinds) {
  const here = (algorithm: Algorithm) => kind === 'versitygw' || alsoOnMinio.includes(algorithm);
  const test = suite(`checksums kept with objects, ${kind}`);
  let rig: Rig;
  let proxy: RiggedProxy;
  let s3: S3Client;

  test.before(async () => {
    await loadChecksums(algorithms.map(lower));
    rig = await startRig({ kind });
    proxy = await rig.proxy();
    s3 = proxy.s3;
  });
  test.after(() => rig?.stop());

  const head = (Key: string) => s3.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
  const attributes = async (Key: string) => {
    const asked = { Bucket, Key, ObjectAttributes: ['Checksum' as const] };
    return told((await s3.send(new GetObjectAttributesCommand(asked))).Checksum ?? {});
  };
  const ofParts = async (Key: string) => {
    const asked = { Bucket, Key, ObjectAttributes: ['ObjectParts' as const] };
    const { ObjectParts } = await s3.send(new GetObjectAttributesCommand(asked));
    return ObjectParts?.Parts?.map((part) => [part.Size, told(part)]);
  };
  /** Past the SDK, which refuses checksums that it cannot calculate. */
  async function read(Key: string) {
    const asked = { 'x-amz-checksum-mode': 'ENABLED' };
    const { body, headers } = await rawHttp(`${proxy.url}/${Bucket}/${Key}`, { headers: asked });
    const sums = algorithms.map((algorithm) => [
      `Checksum${algorithm}`,
      headers[`x-amz-checksum-${algorithm.toLowerCase()}`],
    ]);
    const found = Object.fromEntries(sums.filter(([, value]) => value !== undefined));
    return { body, told: { ...found, ChecksumType: headers['x-amz-checksum-type'] } };
  }
  async function listed(Key: string) {
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: Key }));
    return Contents?.map(({ ChecksumAlgorithm: names, ChecksumType }) => [names?.[0], ChecksumType])[0];
  }

  for (const algorithm of algorithms.filter(here))
    test(`${algorithm} of objects in one piece`, async () => {
      for (const size of [0, 1, 20 * KiB, 200 * KiB]) {
        const Key = `${algorithm}-${size}`;
        const Body = randomBytes(size);
        const expected = { ...sumOf(algorithm, Body), ChecksumType: 'FULL_OBJECT' };
        const put = await s3.send(new PutObjectCommand({ Bucket, Key, Body, ...sumOf(algorithm, Body) }));
        assert.equal(told(put), expected);
        assert.equal(told(await head(Key)), expected);
        assert.equal(await attributes(Key), expected);
        assert.equal(await read(Key), { body: Body, told: expected });
        assert.equal(await listed(Key), [algorithm, 'FULL_OBJECT']);
        assert.equal(told(await s3.send(new HeadObjectCommand({ Bucket, Key }))), {});
      }
    });

  test('where the caller names none a small object has CRC-64/NVME, and a range has none', async () => {
    const body = randomBytes(5000);
    const put = await rawHttp(`${proxy.url}/${Bucket}/default`, { method: 'PUT', body });
    assert.is(put.status, 200);
    const { ChecksumCRC64NVME: expected } = sumOf('CRC64NVME', body);
    assert.is(put.headers['x-amz-checksum-crc64nvme'], expected);
    assert.is((await head('default')).ChecksumCRC64NVME, expected);
    const range = { Bucket, Key: 'default', Range: 'bytes=0-9', ChecksumMode: 'ENABLED' } as const;
    const part = await s3.send(new GetObjectCommand(range));
    await part.Body?.transformToByteArray();
    assert.equal(told(part), {});
  });

  for (const [algorithm, type] of inParts.filter(([algorithm]) => here(algorithm)))
    test(`${algorithm}, ${type}, of objects in parts, inline and not, and of their copies`, async () => {
      const bodies = [randomBytes(5 * MiB), randomBytes(70 * KiB)] as const;
      const composite = digest(algorithm, ...bodies.map((body) => digest(algorithm, body))).toString(
        'base64',
      );
      const expected = {
        ...(type === 'COMPOSITE'
          ? { [`Checksum${algorithm}`]: `${composite}-2` }
          : sumOf(algorithm, Buffer.concat(bodies))),
        ChecksumType: type,
      };
      for (const [Key, Metadata] of [
        [`inline-${algorithm}`, {}],
        [`pointer-${algorithm}`, { long: 'x'.repeat(1500) }],
      ] as const) {
        const at = { Bucket, Key };
        const begun = { ...at, Metadata, ChecksumAlgorithm: algorithm, ChecksumType: type };
        const created = await s3.send(new CreateMultipartUploadCommand(begun));
        assert.equal([created.ChecksumAlgorithm, created.ChecksumType], [algorithm, type]);
        const upload = { ...at, UploadId: created.UploadId };
        const Parts = [];
        for (const [index, Body] of bodies.entries()) {
          const sums = sumOf(algorithm, Body);
          const sent = { ...upload, PartNumber: index + 1, Body, ...sums };
          const { ETag } = await s3.send(new UploadPartCommand(sent));
          Parts.push({ PartNumber: index + 1, ETag, ...sums });
        }
        const listing = await s3.send(new ListPartsCommand(upload));
        assert.equal([listing.ChecksumAlgorithm, listing.ChecksumType], [algorithm, type]);
        assert.equal(
          listing.Parts?.map((part) => [part.Size, told(part)]),
          bodies.map((body) => [body.length, sumOf(algorithm, body)]),
        );
        const completed = { ...upload, MultipartUpload: { Parts } };
        assert.equal(told(await s3.send(new CompleteMultipartUploadCommand(completed))), expected);
        for (const name of [Key, `copy-of-${Key}`]) {
          if (name !== Key) {
            const copy = { Bucket, Key: name, CopySource: `${Bucket}/${Key}` };
            const { CopyObjectResult } = await s3.send(new CopyObjectCommand(copy));
            assert.equal(told(CopyObjectResult ?? {}), expected);
          }
          assert.equal(told(await head(name)), expected);
          assert.equal(await attributes(name), expected);
          assert.equal(await read(name), { body: Buffer.concat(bodies), told: expected });
          assert.equal(await listed(name), [algorithm, type]);
          assert.equal(
            await ofParts(name),
            bodies.map((body) => [body.length, sumOf(algorithm, body)]),
          );
          for (const [index, body] of bodies.entries()) {
            const one = { Bucket, Key: name, PartNumber: index + 1 };
            const part = await s3.send(new HeadObjectCommand({ ...one, ChecksumMode: 'ENABLED' }));
            assert.equal(told(part), sumOf(algorithm, body));
            assert.equal(told(await s3.send(new HeadObjectCommand(one))), {});
          }
        }
      }
    });

  test('a copy keeps the checksum or has the one that is asked for', async () => {
    for (const size of [300, 200 * KiB]) {
      const Body = randomBytes(size);
      const Key = `source-${size}`;
      await s3.send(new PutObjectCommand({ Bucket, Key, Body, ...sumOf('SHA1', Body) }));
      for (const [name, asked, algorithm] of [
        ['kept', undefined, 'SHA1'],
        ['same', 'SHA1', 'SHA1'],
        ['other', 'SHA256', 'SHA256'],
      ] as const) {
        const copy = {
          Bucket,
          Key: `${name}-${size}`,
          CopySource: `${Bucket}/${Key}`,
          ChecksumAlgorithm: asked,
        };
        const { CopyObjectResult } = await s3.send(new CopyObjectCommand(copy));
        const expected = { ...sumOf(algorithm, Body), ChecksumType: 'FULL_OBJECT' };
        assert.equal(told(CopyObjectResult ?? {}), expected, name);
        assert.equal(told(await head(copy.Key)), expected, name);
        assert.equal(await read(copy.Key), { body: Body, told: expected });
      }
    }
  });

  test('an object that is not encrypted is copied with the checksum that is asked for', async () => {
    for (const [size, asked] of [
      [300, 'MD5'],
      [90_000, 'XXHASH3'],
    ] as const) {
      const Body = randomBytes(size);
      const Key = `plain-${size}`;
      await rig.store.client.send(new PutObjectCommand({ Bucket, Key, Body }));
      const url = `${proxy.url}/${Bucket}/copied-${size}`;
      const headers = { 'x-amz-copy-source': `${Bucket}/${Key}`, 'x-amz-checksum-algorithm': asked };
      const answer = await rawHttp(url, { method: 'PUT', headers });
      const expected = { ...sumOf(asked, Body), ChecksumType: 'FULL_OBJECT' };
      assert.match(answer.body.toString(), new RegExp(`<Checksum${asked}>`));
      assert.equal(await read(`copied-${size}`), { body: Body, told: expected });
    }
  });

  test('the store sees nothing of a checksum but its name, and cannot change it', async () => {
    const Body = randomBytes(3000);
    const Key = 'sealed';
    await s3.send(new PutObjectCommand({ Bucket, Key, Body, ...sumOf('CRC32', Body) }));
    const stored = await rig.store.client.send(new HeadObjectCommand({ Bucket, Key }));
    const text = stored.Metadata?.['svc-checksum'] ?? '';
    assert.match(text, /^crc32\.full\.[\w-]{44}$/);
    await rig.store.client.send(
      new CopyObjectCommand({
        Bucket,
        Key,
        CopySource: `${Bucket}/${Key}`,
        MetadataDirective: 'REPLACE',
        Metadata: { ...stored.Metadata, 'svc-checksum': `${text.slice(0, -4)}AAAA` },
      }),
    );
    const url = `${proxy.url}/${Bucket}/${Key}`;
    const refused = await rawHttp(url, { headers: { 'x-amz-checksum-mode': 'ENABLED' } });
    assert.is(refused.status, 500);
    assert.equal((await rawHttp(url)).body, Body);
  });

  test('an object whose metadata leave no room for it is stored without it', async () => {
    const Body = randomBytes(100);
    const sums = sumOf('SHA256', Body);
    const put = (Key: string, length: number) =>
      s3.send(new PutObjectCommand({ Bucket, Key, Body, Metadata: { long: 'x'.repeat(length) }, ...sums }));
    await put('room', 1000);
    assert.is((await head('room')).ChecksumSHA256, sums['ChecksumSHA256']);
    const { Metadata = {} } = await rig.store.client.send(new HeadObjectCommand({ Bucket, Key: 'room' }));
    const { 'svc-checksum': kept = '', ...others } = Metadata;
    const counted = Object.entries(others).map(([name, value]) => `x-amz-meta-${name}${value}`.length);
    const used = counted.reduce((sum, length) => sum + length, 0);
    for (const [Key, left, expected] of [
      ['just-room', 'x-amz-meta-svc-checksum'.length + kept.length, sums['ChecksumSHA256']],
      ['no-room', 'x-amz-meta-svc-checksum'.length + kept.length - 1, undefined],
      ['full', 0, undefined],
    ] as const) {
      assert.is((await put(Key, 1000 + 2048 - used - left)).ChecksumSHA256, sums['ChecksumSHA256']);
      assert.is((await head(Key)).ChecksumSHA256, expected, Key);
    }
  });

  test.run();
}
