import { randomBytes } from 'node:crypto';
import {
  type ChecksumAlgorithm,
  type ChecksumType,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandOutput,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createChecksum } from '../../src/objects/s3/checksum.ts';
import { storeKinds } from '../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';

const MiB = 1024 * 1024;
const bodies = [randomBytes(5 * MiB), randomBytes(MiB + 7)] as const;
const whole = Buffer.concat(bodies);

type Case = readonly [ChecksumAlgorithm, ChecksumType];

/** What minio-go (CRC32C of the whole) and the SDKs of AWS may be told to send, as `x-amz-checksum-…` of Complete. */
const cases: readonly Case[] = [
  ['CRC32', 'FULL_OBJECT'],
  ['CRC32C', 'FULL_OBJECT'],
  ['CRC64NVME', 'FULL_OBJECT'],
  ['CRC32', 'COMPOSITE'],
  ['CRC32C', 'COMPOSITE'],
  ['SHA1', 'COMPOSITE'],
  ['SHA256', 'COMPOSITE'],
];

/** A store is told of no checksum: to another store one of each type looks like all of them. */
const alsoOnMinio = cases.filter(([algorithm]) => ['CRC64NVME', 'SHA256'].includes(algorithm));

type Sums = Readonly<Record<string, string | undefined>>;

function checksum(algorithm: ChecksumAlgorithm, ...data: readonly Buffer[]): Buffer {
  const running = createChecksum(algorithm.toLowerCase() as Parameters<typeof createChecksum>[0]);
  for (const piece of data) running.update(piece);
  return running.digest();
}

/** As a field of requests and answers. */
const sumOf = (algorithm: ChecksumAlgorithm, body: Buffer): Sums => ({
  [`Checksum${algorithm}`]: checksum(algorithm, body).toString('base64'),
});

function objectSum([algorithm, type]: Case, parts: readonly Buffer[]): Sums {
  if (type === 'FULL_OBJECT') return sumOf(algorithm, Buffer.concat(parts));
  const digests = parts.map((body) => checksum(algorithm, body));
  return {
    [`Checksum${algorithm}`]: `${checksum(algorithm, ...digests).toString('base64')}-${parts.length}`,
  };
}

interface Upload {
  readonly Bucket: string;
  readonly Key: string;
  readonly UploadId: string | undefined;
}

type Client = Pick<S3Client, 'send'>;

async function begin(s3: Client, Key: string, named: { algorithm?: ChecksumAlgorithm; type?: ChecksumType }) {
  const at = { Bucket: 'bucket', Key };
  const begun = { ...at, ChecksumAlgorithm: named.algorithm, ChecksumType: named.type };
  return { ...at, UploadId: (await s3.send(new CreateMultipartUploadCommand(begun))).UploadId };
}

async function send(s3: Client, upload: Upload, PartNumber: number, Body: Buffer, sums: Sums = {}) {
  return s3.send(new UploadPartCommand({ ...upload, PartNumber, Body, ...sums }));
}

/** Sends the bodies with a checksum each, through the clients in turn. */
async function sendAll(clients: readonly Client[], upload: Upload, algorithm: ChecksumAlgorithm) {
  const parts: CompletedPart[] = [];
  for (const [index, body] of bodies.entries()) {
    const s3 = clients[index % clients.length] as Client;
    const { ETag } = await send(s3, upload, index + 1, body, sumOf(algorithm, body));
    parts.push({ PartNumber: index + 1, ETag });
  }
  return parts;
}

const complete = (s3: Client, upload: Upload, Parts: CompletedPart[], named: Sums = {}) =>
  s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts }, ...named }));

async function refused(action: Promise<unknown>): Promise<string> {
  return action.then(
    () => 'none',
    (error: Error) => error.name,
  );
}

async function read(s3: Client, Key: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'bucket', Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

for (const kind of storeKinds) {
  const test = suite(`uploads that name a checksum of the whole object, ${kind}`);
  let rig: Rig;
  let proxy: RiggedProxy;
  /** Names no checksum by itself. */
  let plain: S3Client;

  test.before(async () => {
    rig = await startRig({ kind, logged: true });
    proxy = await rig.proxy({ env: { SVC_LOG_LEVEL: 'debug' } });
    const { endpoint, region, accessKeyId, secretAccessKey } = proxy.target;
    const credentials = { accessKeyId, secretAccessKey };
    const own = {
      requestChecksumCalculation: 'WHEN_REQUIRED',
      forcePathStyle: true,
      maxAttempts: 1,
    } as const;
    plain = new S3Client({ endpoint, region, credentials, ...own });
  });
  test.after(async () => {
    plain?.destroy();
    await rig?.stop();
  });

  for (const [algorithm, type] of kind === 'versitygw' ? cases : alsoOnMinio) {
    const title = `${algorithm}, ${type}`;

    test(`${title}: completes, reads back as it was sent, and is answered`, async () => {
      const upload = await begin(proxy.s3, title, { algorithm, type });
      const parts = await sendAll([proxy.s3], upload, algorithm);
      const Parts = parts.map((part, index) => ({ ...part, ...sumOf(algorithm, bodies[index] as Buffer) }));
      const named = objectSum([algorithm, type], bodies);
      const done = await complete(proxy.s3, upload, Parts, { ...named, ChecksumType: type });
      const told = done[`Checksum${algorithm}` as keyof CompleteMultipartUploadCommandOutput];
      assert.equal([told, done.ChecksumType], [named[`Checksum${algorithm}`], type]);
      assert.ok(whole.equals(await read(proxy.s3, title)));
    });

    test(`${title}: a wrong one is BadDigest, or InvalidPart, and replaces nothing, and the right one completes`, async () => {
      const Key = `wrong ${title}`;
      await proxy.s3.send(new PutObjectCommand({ Bucket: 'bucket', Key, Body: 'earlier' }));
      const upload = await begin(proxy.s3, Key, { algorithm, type });
      const sent = await sendAll([proxy.s3], upload, algorithm);
      const parts = sent.map((part, index) => ({ ...part, ...sumOf(algorithm, bodies[index] as Buffer) }));
      const [first, second] = parts as [CompletedPart, CompletedPart];
      const other = Buffer.from('another');
      const right = objectSum([algorithm, type], bodies);
      const wrong: readonly (readonly [string, CompletedPart[], Sums, string?])[] = [
        ['the whole', parts, objectSum([algorithm, type], [bodies[0], other])],
        ['a part', [first, { ...second, ...sumOf(algorithm, other) }], right, 'InvalidPart'],
        ['a part alone', [first, { ...second, ...sumOf(algorithm, other) }], {}, 'InvalidPart'],
        ['a part is left out', [first], right],
        ['order', parts, objectSum([algorithm, type], bodies.toReversed())],
      ];
      for (const [label, Parts, named, code = 'BadDigest'] of wrong)
        assert.is(await refused(complete(proxy.s3, upload, Parts, named)), code, label);
      assert.is((await read(proxy.s3, Key)).toString(), 'earlier');
      await complete(proxy.s3, upload, parts, right);
      assert.ok(whole.equals(await read(proxy.s3, Key)));
    });
  }

  test('a Complete of a composite one names the checksum of every part, a Complete of the other type is refused', async () => {
    const upload = await begin(proxy.s3, 'bare', { algorithm: 'SHA256', type: 'COMPOSITE' });
    const parts = await sendAll([proxy.s3], upload, 'SHA256');
    assert.is(await refused(complete(proxy.s3, upload, parts)), 'InvalidRequest');
    const full = await begin(proxy.s3, 'full', { algorithm: 'CRC32', type: 'FULL_OBJECT' });
    const ofFull = await sendAll([proxy.s3], full, 'CRC32');
    const other = complete(proxy.s3, full, ofFull, { ChecksumType: 'COMPOSITE' });
    assert.is(await refused(other), 'InvalidRequest');
  });

  test('a part comes with the checksum that its upload was begun with', async () => {
    const upload = await begin(proxy.s3, 'parts', { algorithm: 'SHA256', type: 'COMPOSITE' });
    assert.is(await refused(send(plain, upload, 1, bodies[0])), 'InvalidRequest');
    const other = send(plain, upload, 1, bodies[0], sumOf('CRC32', bodies[0]));
    assert.is(await refused(other), 'InvalidRequest');
    await send(plain, upload, 1, bodies[0], sumOf('SHA256', bodies[0]));
  });

  test('the number of parts behind a composite one is verified', async () => {
    const upload = await begin(proxy.s3, 'count', { algorithm: 'SHA256' });
    const parts = await sendAll([proxy.s3], upload, 'SHA256');
    const { ChecksumSHA256 = '' } = objectSum(['SHA256', 'COMPOSITE'], bodies);
    const named = { ChecksumSHA256: ChecksumSHA256.replace('-2', '-3') };
    assert.is(await refused(complete(proxy.s3, upload, parts, named)), 'BadDigest');
  });

  test('parts may go through one proxy, and Complete through another, also after a restart', async () => {
    const other = await rig.proxy();
    for (const [Key, algorithm] of Object.entries({ shared: 'CRC32C', restarted: 'CRC64NVME' } as const)) {
      const upload = await begin(other.s3, Key, { algorithm, type: 'FULL_OBJECT' });
      const parts = await sendAll([proxy.s3, other.s3], upload, algorithm);
      if (Key === 'restarted') {
        await other.restart();
        await other.reconnect();
      }
      const wrong = complete(other.s3, upload, parts, sumOf(algorithm, bodies[0]));
      assert.is(await refused(wrong), 'BadDigest', Key);
      await complete(other.s3, upload, parts, sumOf(algorithm, whole));
      assert.ok(whole.equals(await read(other.s3, Key)));
    }
  });

  test('parts that come without one have the one that the upload was begun with, copied ones too', async () => {
    await proxy.s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'source', Body: bodies[1] }));
    const upload = await begin(plain, 'asked', { algorithm: 'CRC64NVME' });
    const sent = await send(plain, upload, 1, bodies[0]);
    assert.is(sent.ChecksumCRC64NVME, sumOf('CRC64NVME', bodies[0]).ChecksumCRC64NVME);
    const copy = { ...upload, PartNumber: 2, CopySource: 'bucket/source' };
    const { CopyPartResult: copied } = await plain.send(new UploadPartCopyCommand(copy));
    assert.is(copied?.ChecksumCRC64NVME, sumOf('CRC64NVME', bodies[1]).ChecksumCRC64NVME);
    const parts = [
      { PartNumber: 1, ETag: sent.ETag },
      { PartNumber: 2, ETag: copied?.ETag },
    ];
    const wrong = complete(plain, upload, parts, sumOf('CRC64NVME', bodies[0]));
    assert.is(await refused(wrong), 'BadDigest');
    assert.is(await refused(complete(plain, upload, parts, sumOf('SHA256', whole))), 'InvalidRequest');
    await complete(plain, upload, parts, sumOf('CRC64NVME', whole));
    assert.ok(whole.equals(await read(plain, 'asked')));
  });

  test('parts without any are taken as they are, where the upload was begun without', async () => {
    const upload = await begin(plain, 'unknown', {});
    const sent = await send(plain, upload, 1, bodies[0]);
    assert.is(sent.ChecksumCRC32, undefined);
    const known = await send(plain, upload, 2, bodies[1], sumOf('CRC32', bodies[1]));
    const parts = [sent, known].map(({ ETag }, index) => ({ PartNumber: index + 1, ETag }));
    const [first, second] = parts as [CompletedPart, CompletedPart];
    const ofPart = complete(plain, upload, [first, { ...second, ...sumOf('CRC32', whole) }]);
    assert.is(await refused(ofPart), 'InvalidPart');
    const done = await complete(plain, upload, parts, sumOf('CRC32', bodies[0]));
    assert.is(done.ChecksumCRC32, undefined);
    assert.ok(whole.equals(await read(plain, 'unknown')));
  });

  test('a type that the algorithm does not have is refused', async () => {
    const digest = begin(proxy.s3, 'type', { algorithm: 'SHA256', type: 'FULL_OBJECT' });
    assert.is(await refused(digest), 'InvalidRequest');
    const crc = begin(proxy.s3, 'type', { algorithm: 'CRC64NVME', type: 'COMPOSITE' });
    assert.is(await refused(crc), 'InvalidRequest');
  });

  test('neither the store nor the log is told of any checksum', async () => {
    const objects = await rig.store.client.send(
      new ListObjectsV2Command({ Bucket: 'bucket', Prefix: '.svc/' }),
    );
    const texts = (objects.Contents ?? []).map(({ Key = '' }) => read(rig.store.client, Key).then(String));
    const requests = rig.log.requests.map(({ path, requestHeaders }) =>
      JSON.stringify([path, requestHeaders]),
    );
    const everything = [...requests, ...(await Promise.all(texts)), proxy.output()].join('\n');
    assert.ok(requests.length > 100, 'nothing was noted');
    assert.match(everything, '/.svc/uploads/');
    const words = everything.match(/[\w+-]{6,}/g) ?? [];
    const decoded = Buffer.concat(words.map((word) => Buffer.from(word, 'base64')));
    for (const [algorithm] of cases)
      for (const sum of [...bodies, whole, ofParts(algorithm)].map((body) => checksum(algorithm, body))) {
        for (const form of ['base64', 'base64url', 'hex'] as const)
          assert.not.match(everything, sum.toString(form).replace(/=+$/, ''), `${algorithm} ${form}`);
        // Four bytes may stand there by chance.
        assert.is(sum.length > 4 && decoded.includes(sum), false, algorithm);
      }
  });

  test.run();
}

/** What a composite checksum is made over. */
const ofParts = (algorithm: ChecksumAlgorithm): Buffer =>
  Buffer.concat(bodies.map((body) => checksum(algorithm, body)));
