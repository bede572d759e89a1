import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type UploadPartCopyCommandInput,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { segmentBytes } from '../../../src/objects/format/segments.ts';
import { type Bed, BUCKET, MiB, sha256, startBed } from '../../clients/bed.ts';
import { decrypt } from '../../plugins/bulk/decrypt/decrypting.ts';
import { put, rewrap, rewrapResult, upload } from '../../plugins/bulk/rewrap/rewrapping.ts';
import { s3Client } from '../../support/object-store.ts';
import { storeKinds } from '../../support/repetitions.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import { temporaryFolder } from '../../support/temporary.ts';

export const timeout = 600_000;

interface Place {
  readonly store: 'versitygw' | 'minio';
  readonly args: readonly string[];
  /** Whether it copies what objects in parts have: of these versitygw tells checksums that are of no part. */
  readonly ofParts: boolean;
}

const none = ['--upstream-checksum', 'none'];

/** MinIO copies no part of an upload whose parts have checksums. */
const places: Readonly<Record<string, Place>> = {
  versitygw: { store: 'versitygw', args: [], ofParts: false },
  'versitygw without checksums': { store: 'versitygw', args: none, ofParts: true },
  'minio without checksums': { store: 'minio', args: none, ofParts: true },
};

/** Far more than headers and documents take, and far less than any body here. */
const littleBytes = 64 * 1024;
const otherBucket = 'another';

const here = Object.entries(places).filter(([, { store }]) => storeKinds.includes(store));

for (const [label, { store, args, ofParts }] of here) {
  const test = suite<{ bed: Bed }>(`copies of format 2 at ${label}: no body moves`);
  const bodies = new Map<string, Buffer>();

  test.before(async (context) => {
    const bed = await startBed({
      store,
      args: ['--format', '2', '--inline-limit', '32MiB', ...args],
    });
    context.bed = bed;
    await bed.store.createBucket(otherBucket);
    for (const [key, body] of [
      await put(bed.client, 'single', bed.payload(11 * MiB + 100)),
      await upload(bed, 'parts', 3),
    ])
      bodies.set(key, body);
  });

  test.after(async ({ bed }) => {
    await bed?.stop();
  });

  const bodyOf = (key: string) => bodies.get(key) as Buffer;

  /** Bytes between proxy and store, both ways, of what `act` asks for. */
  async function moved({ log }: Bed, act: () => Promise<unknown>): Promise<number> {
    log.clear();
    await act();
    return log.requests.reduce(
      (sum, { requestBytes, responseBytes }) => sum + requestBytes + responseBytes,
      0,
    );
  }

  async function read({ client }: Bed, Key: string, Bucket: string = BUCKET): Promise<Buffer> {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  }

  const same = (found: Buffer, expected: Buffer, what: string) =>
    assert.is(sha256(found), sha256(expected), what);

  interface CopiedPart {
    readonly from: string;
    readonly range?: readonly [start: number, end: number];
    readonly more?: Partial<UploadPartCopyCommandInput>;
  }

  /** @returns the bytes that moved for each part, and what the object should be */
  async function assemble(
    bed: Bed,
    Key: string,
    parts: readonly CopiedPart[],
    create: Partial<CreateMultipartUploadCommandInput> = {},
  ): Promise<{ moved: number[]; expected: Buffer; sizes: (number | undefined)[] }> {
    const at = { Bucket: BUCKET, Key };
    const { client } = bed;
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...at, ...create }));
    const Parts: { PartNumber: number; ETag: string | undefined; ChecksumCRC32?: string | undefined }[] = [];
    const counted: number[] = [];
    for (const [index, { from, range, more }] of parts.entries()) {
      const PartNumber = index + 1;
      const CopySourceRange = range && `bytes=${range[0]}-${range[1] - 1}`;
      const copy = { ...at, UploadId, PartNumber, CopySource: `${BUCKET}/${from}`, CopySourceRange, ...more };
      const act = async () => {
        const { CopyPartResult } = await client.send(new UploadPartCopyCommand(copy));
        Parts.push({ PartNumber, ETag: CopyPartResult?.ETag, ChecksumCRC32: CopyPartResult?.ChecksumCRC32 });
      };
      counted.push(await moved(bed, act));
    }
    const listed = await client.send(new ListPartsCommand({ ...at, UploadId }));
    const complete = { ...at, UploadId, MultipartUpload: { Parts } };
    await client.send(new CompleteMultipartUploadCommand(complete));
    const expected = Buffer.concat(
      parts.map(({ from, range }) => bodyOf(from).subarray(range?.[0] ?? 0, range?.[1])),
    );
    return { moved: counted, expected, sizes: listed.Parts?.map(({ Size }) => Size) ?? [] };
  }

  test('CopyObject, in one piece and in parts, to another key and to another bucket', async ({ bed }) => {
    for (const [key, body] of bodies)
      for (const Bucket of [BUCKET, otherBucket]) {
        const to = `copy-of-${key}`;
        const copy = new CopyObjectCommand({ Bucket, Key: to, CopySource: `${BUCKET}/${key}` });
        const bytes = await moved(bed, () => bed.client.send(copy));
        assert.ok(bytes < littleBytes, `${key} to ${Bucket}: ${bytes} bytes`);
        same(await read(bed, to, Bucket), body, `${Bucket}/${to}`);
      }
  });

  test('CopyObject onto itself, with other metadata', async ({ bed }) => {
    const [key, body] = ['copy-of-single', bodyOf('single')];
    const Metadata = { changed: 'yes' };
    const copy = { Bucket: BUCKET, Key: key, CopySource: `${BUCKET}/${key}`, Metadata };
    const act = () => bed.client.send(new CopyObjectCommand({ ...copy, MetadataDirective: 'REPLACE' }));
    assert.ok((await moved(bed, act)) < littleBytes);
    same(await read(bed, key), body, key);
  });

  test('MinIO with checksums copies no part: it is encrypted anew', async ({ bed }) => {
    if (store !== 'minio') return;
    const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
    const proxy = await startSvcProxy({ vault, upstream: bed.store, args: ['--format', '2'] });
    const client = await s3Client(proxy.target);
    const copied = await assemble({ ...bed, client }, 'with-checksums', [{ from: 'single' }]);
    same(await read(bed, 'with-checksums'), copied.expected, 'with-checksums');
    client.destroy();
    await proxy.stop();
  });

  const segment = segmentBytes;
  const cut = 96 * segment;

  test('UploadPartCopy of whole objects, parts of objects, and ranges that end with segments', async ({
    bed,
  }) => {
    const single = bodyOf('single').length;
    const parts: CopiedPart[] = [
      { from: 'single' },
      { from: 'single', range: [0, cut] },
      { from: 'single', range: [segment, segment + cut] },
      { from: 'parts', range: [5 * MiB, 10 * MiB] },
      { from: 'single', range: [cut, single] },
    ];
    const copied = await assemble(bed, 'assembled', parts);
    for (const [index, bytes] of copied.moved.entries()) {
      const inStore = ofParts || parts[index]?.from === 'single';
      assert.is(bytes < littleBytes, inStore, `part ${index + 1}: ${bytes} bytes`);
    }
    assert.equal(
      copied.sizes,
      parts.map(({ from, range: [start, end] = [0, bodyOf(from).length] }) => end - start),
    );
    bodies.set('assembled', copied.expected);
    same(await read(bed, 'assembled'), copied.expected, 'assembled');
    for (const [start, end] of [
      [single - 10, single + 10],
      [single + cut - 1, single + cut + 1],
      [single + cut + segment - 1, single + cut + segment],
    ] as const) {
      const range = { Bucket: BUCKET, Key: 'assembled', Range: `bytes=${start}-${end - 1}` };
      const { Body } = await bed.client.send(new GetObjectCommand(range));
      const found = Buffer.from((await Body?.transformToByteArray()) ?? []);
      assert.ok(found.equals(copied.expected.subarray(start, end)), `${start}-${end}`);
    }
  });

  test('what was copied is copied again: the object, and a part of it into another upload', async ({
    bed,
  }) => {
    const copy = { Bucket: BUCKET, Key: 'again', CopySource: `${BUCKET}/assembled` };
    assert.ok((await moved(bed, () => bed.client.send(new CopyObjectCommand(copy)))) < littleBytes);
    same(await read(bed, 'again'), bodyOf('assembled'), 'again');
    const single = bodyOf('single').length;
    const range = [single + segment, single + cut] as const;
    const copied = await assemble(bed, 'of-a-copy', [{ from: 'assembled', range }]);
    assert.is((copied.moved[0] as number) < littleBytes, ofParts);
    same(await read(bed, 'of-a-copy'), copied.expected, 'of-a-copy');
  });

  test('other ranges, and uploads with a checksum, are encrypted anew', async ({ bed }) => {
    const parts: CopiedPart[] = [
      { from: 'single', range: [1, cut + 1] },
      { from: 'single', range: [0, cut - 1] },
      { from: 'parts', range: [4 * MiB, 9 * MiB] },
    ];
    const copied = await assemble(bed, 'anew', parts);
    for (const bytes of copied.moved) assert.ok(bytes > 5 * MiB, `${bytes} bytes`);
    same(await read(bed, 'anew'), copied.expected, 'anew');
    const begun = { ChecksumAlgorithm: 'CRC32', ChecksumType: 'FULL_OBJECT' } as const;
    const summed = await assemble(bed, 'summed', [{ from: 'single' }], begun);
    assert.ok((summed.moved[0] as number) > 11 * MiB);
    const head = { Bucket: BUCKET, Key: 'summed', ChecksumMode: 'ENABLED' } as const;
    assert.type((await bed.client.send(new HeadObjectCommand(head))).ChecksumCRC32, 'string');
  });

  test('the record of a copied part that was changed before Complete is refused', async ({ bed }) => {
    const at = { Bucket: BUCKET, Key: 'forged' };
    const { UploadId } = await bed.client.send(new CreateMultipartUploadCommand(at));
    const part = { ...at, UploadId, PartNumber: 1, CopySource: `${BUCKET}/single` };
    const range = { CopySourceRange: `bytes=${segment}-${segment + cut - 1}` };
    const { CopyPartResult } = await bed.client.send(new UploadPartCopyCommand({ ...part, ...range }));
    const past = bed.store.client;
    const listed = await past.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: '.svc/uploads/' }));
    const record = listed.Contents?.map(({ Key = '' }) => Key).find((key) => key.includes('.0.1.0.')) ?? '';
    const forged = record.replace('.0.1.0.', '.0.0.0.');
    await past.send(new PutObjectCommand({ Bucket: BUCKET, Key: forged, Body: '' }));
    await past.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: record }));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag: CopyPartResult?.ETag }] };
    const complete = new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload });
    const failure = await bed.client.send(complete).catch((error) => error.name);
    assert.is(failure, 'InternalError');
    await bed.client.send(new AbortMultipartUploadCommand({ ...at, UploadId }));
  });

  test('rewrap and decrypt need to know nothing of copied parts', async ({ bed }) => {
    if (!ofParts || store !== 'versitygw') return;
    const vault = { addr: bed.bao.url, token: bed.bao.rootToken };
    const setting = { store: bed.store, vault };
    await bed.bao.rotate();
    const report = rewrapResult(await rewrap(setting, `s3://${BUCKET}/`, '--json'));
    assert.ok(report.complete && report.faultCount === 0, JSON.stringify(report));
    same(await read(bed, 'assembled'), bodyOf('assembled'), 'assembled');
    const folder = temporaryFolder('copied');
    const decrypted = await decrypt(
      setting,
      `s3://${BUCKET}/assembled`,
      join(folder.path, 'plain'),
      '--json',
    );
    assert.is(decrypted.status, 0, decrypted.stderr);
    same(readFileSync(join(folder.path, 'plain', 'assembled')), bodyOf('assembled'), 'by svc proxy decrypt');
    await folder.remove();
  });

  test('a condition that the source does not meet is answered, and a part sent again counts', async ({
    bed,
  }) => {
    const more = { CopySourceIfMatch: '"00000000000000000000000000000000"' };
    const refused = await assemble(bed, 'refused', [{ from: 'single', more }]).catch((error) => error.name);
    assert.is(refused, 'PreconditionFailed');
    const at = { Bucket: BUCKET, Key: 'replaced' };
    const { UploadId } = await bed.client.send(new CreateMultipartUploadCommand(at));
    const part = { ...at, UploadId, PartNumber: 1 };
    await bed.client.send(new UploadPartCopyCommand({ ...part, CopySource: `${BUCKET}/single` }));
    const Body = bed.payload(100);
    const { ETag } = await bed.client.send(new UploadPartCommand({ ...part, Body }));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await bed.client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload }));
    same(await read(bed, 'replaced'), Body, 'replaced');
  });

  test.run();
}
