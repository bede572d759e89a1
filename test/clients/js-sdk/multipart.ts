import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import * as assert from 'uvu/assert';
import { BUCKET, MiB } from '../bed.ts';
import { LONGEST_KEY } from '../odd-keys.ts';
import { at, content, own, refusal, type SdkSuite, same, source } from './sdk.ts';

const create = async (s3: S3Client, key: string, more: Partial<CreateMultipartUploadCommandInput> = {}) =>
  (await s3.send(new CreateMultipartUploadCommand({ ...at(key), ...more }))).UploadId ?? '';

/** Uploads in parts, by hand and by the SDK's own helper. */
export function multipartTests(test: SdkSuite): void {
  test('the helper uploads a stream of unknown length in parts', async ({ bed, s3 }) => {
    const body = bed.payload(17 * MiB + 77);
    const params = { ...at('helped'), Body: Readable.from([body.subarray(0, 1000), body.subarray(1000)]) };
    const more = { ContentType: 'text/h', Metadata: { a: 'b' } };
    await new Upload({ client: s3, params: { ...params, ...more }, partSize: 5 * MiB, queueSize: 3 }).done();
    const got = await s3.send(new GetObjectCommand(at('helped')));
    assert.equal(
      [got.ContentLength, got.ContentType, own(got.Metadata)],
      [body.length, 'text/h', { a: 'b' }],
    );
    same(await content(got), body);
    const across = { ...at('helped'), Range: `bytes=${5 * MiB - 3}-${5 * MiB + 2}` };
    same(await content(await s3.send(new GetObjectCommand(across))), body.subarray(5 * MiB - 3, 5 * MiB + 3));
    const numbered = await s3.send(new GetObjectCommand({ ...at('helped'), PartNumber: 4 }));
    same(await content(numbered), body.subarray(15 * MiB));
    assert.is(numbered.PartsCount, 4);
  });

  test('the helper puts what is short at once', async ({ bed, s3 }) => {
    const body = bed.payload(1234);
    await new Upload({ client: s3, params: { ...at('short'), Body: Readable.from([body]) } }).done();
    same(await content(await s3.send(new GetObjectCommand(at('short')))), body);
  });

  for (const ChecksumAlgorithm of ['CRC32', 'SHA256', 'CRC64NVME'] as const) {
    test(`parts by hand, checked by ${ChecksumAlgorithm}; listed, completed`, async ({ bed, s3 }) => {
      const key = `by-hand/${ChecksumAlgorithm}`;
      const UploadId = await create(s3, key, { ChecksumAlgorithm });
      const bodies = [bed.payload(5 * MiB + 1), bed.payload(9)] as const;
      const sum = `Checksum${ChecksumAlgorithm}` as const;
      const Parts: CompletedPart[] = [];
      for (const [index, Body] of bodies.entries()) {
        const part = { ...at(key), UploadId, PartNumber: index + 1, Body, ChecksumAlgorithm };
        const answer = await s3.send(new UploadPartCommand(part));
        Parts.push({ PartNumber: index + 1, ETag: answer.ETag, [sum]: answer[sum] });
      }
      const listed = await s3.send(new ListPartsCommand({ ...at(key), UploadId }));
      assert.equal(
        listed.Parts?.map(({ Size, ETag }) => [Size, ETag]),
        bodies.map(({ length }, index) => [length, Parts[index]?.ETag]),
      );
      const done = { ...at(key), UploadId, MultipartUpload: { Parts } };
      const { ETag } = await s3.send(new CompleteMultipartUploadCommand(done));
      const got = await s3.send(new GetObjectCommand(at(key)));
      assert.is(got.ETag, ETag);
      same(await content(got), Buffer.concat(bodies));
    });
  }

  test('a part whose checksum is wrong, an upload that is aborted', async ({ bed, s3 }) => {
    const UploadId = await create(s3, 'aborted');
    const part = { ...at('aborted'), UploadId, PartNumber: 1, Body: bed.payload(5000) };
    const wrong = new UploadPartCommand({ ...part, ChecksumCRC32: 'YWJjZA==' });
    assert.match(await refusal(s3.send(wrong)), /^400 (BadDigest|XAmzContentChecksumMismatch)$/);
    await s3.send(new UploadPartCommand(part));
    const { Uploads } = await s3.send(new ListMultipartUploadsCommand({ Bucket: BUCKET, Prefix: 'aborted' }));
    assert.equal(
      Uploads?.map(({ Key, UploadId }) => [Key, UploadId]),
      [['aborted', UploadId]],
    );
    await s3.send(new AbortMultipartUploadCommand({ ...at('aborted'), UploadId }));
    assert.is(
      await refusal(s3.send(new ListPartsCommand({ ...at('aborted'), UploadId }))),
      '404 NoSuchUpload',
    );
    assert.is(await refusal(s3.send(new UploadPartCommand(part))), '404 NoSuchUpload');
  });

  test('parts copied from objects; an object of parts copied at once and renamed', async ({ bed, s3 }) => {
    const [single, parted] = [bed.payload(6 * MiB), bed.payload(11 * MiB)];
    await s3.send(new PutObjectCommand({ ...at('single'), Body: single }));
    await new Upload({ client: s3, params: { ...at('parted'), Body: parted }, partSize: 5 * MiB }).done();
    const UploadId = await create(s3, LONGEST_KEY);
    const ranges = [
      ['single', 1, 5 * MiB],
      ['parted', 4 * MiB, 10 * MiB - 1],
      ['single', 0, 6 * MiB - 1],
    ] as const;
    const Parts: CompletedPart[] = [];
    for (const [index, [key, begin, end]] of ranges.entries()) {
      const PartNumber = index + 1;
      const CopySourceRange = `bytes=${begin}-${end}`;
      const part = { ...at(LONGEST_KEY), UploadId, PartNumber, CopySource: source(key), CopySourceRange };
      const { CopyPartResult } = await s3.send(new UploadPartCopyCommand(part));
      Parts.push({ PartNumber, ETag: CopyPartResult?.ETag });
    }
    const done = { ...at(LONGEST_KEY), UploadId, MultipartUpload: { Parts } };
    await s3.send(new CompleteMultipartUploadCommand(done));
    const whole = [single.subarray(1, 5 * MiB + 1), parted.subarray(4 * MiB, 10 * MiB), single];
    same(await content(await s3.send(new GetObjectCommand(at(LONGEST_KEY)))), Buffer.concat(whole));
    await renamed(s3, 'parted', parted);
  });

  test('completing holds to a condition', async ({ bed, s3 }) => {
    const kept = bed.payload(50);
    await s3.send(new PutObjectCommand({ ...at('taken'), Body: kept }));
    const UploadId = await create(s3, 'taken');
    const part = { ...at('taken'), UploadId, PartNumber: 1, Body: bed.payload(60) };
    const { ETag } = await s3.send(new UploadPartCommand(part));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    const done = { ...at('taken'), UploadId, MultipartUpload, IfNoneMatch: '*' };
    assert.is(await refusal(s3.send(new CompleteMultipartUploadCommand(done))), '412 PreconditionFailed');
    same(await content(await s3.send(new GetObjectCommand(at('taken')))), kept);
  });
}

async function renamed(s3: S3Client, key: string, body: Buffer): Promise<void> {
  const name = `${key} + renamed ä`;
  await s3.send(new CopyObjectCommand({ ...at(name), CopySource: source(key) }));
  await s3.send(new DeleteObjectCommand(at(key)));
  same(await content(await s3.send(new GetObjectCommand(at(name)))), body);
  assert.is((await s3.send(new HeadObjectCommand(at(name)))).ContentLength, body.length);
}
