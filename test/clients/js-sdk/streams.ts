import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import {
  type ChecksumAlgorithm,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import * as assert from 'uvu/assert';
import { MiB } from '../bed.ts';
import { at, content, refusal, type SdkSuite, same, sentHeaders, withoutChecksums } from './sdk.ts';

const ALGORITHMS = ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const satisfies ChecksumAlgorithm[];

/** Pieces of odd sizes, so that they meet no boundary of chunks. */
function* pieces(body: Buffer, size = 70_001): Generator<Buffer> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

/** Bodies that come as streams, and the checksums that the SDK sends with them. */
export function streamTests(test: SdkSuite): void {
  test('streams go up as chunks with a checksum behind them', async ({ bed, s3 }) => {
    const seen = sentHeaders(s3);
    const body = bed.payload(6 * MiB + 11);
    const put = { ...at('stream'), Body: Readable.from(pieces(body)), ContentLength: body.length };
    await s3.send(new PutObjectCommand(put));
    const [headers] = seen;
    assert.is(headers?.['x-amz-trailer'], 'x-amz-checksum-crc32');
    assert.is(headers?.['x-amz-content-sha256'], 'STREAMING-UNSIGNED-PAYLOAD-TRAILER');
    const got = await s3.send(new GetObjectCommand(at('stream')));
    assert.is(got.ContentEncoding, undefined);
    same(await content(got), body);
  });

  test('streams of files, empty streams, and an encoding beside that of the chunks', async ({ bed, s3 }) => {
    const path = bed.file('streamed', 3 * MiB + 3);
    await s3.send(
      new PutObjectCommand({ ...at('file'), Body: createReadStream(path), ContentEncoding: 'gzip' }),
    );
    const { ContentLength, ContentEncoding } = await s3.send(new HeadObjectCommand(at('file')));
    assert.equal([ContentLength, ContentEncoding], [3 * MiB + 3, 'gzip']);
    await s3.send(new PutObjectCommand({ ...at('none'), Body: Readable.from([]), ContentLength: 0 }));
    assert.is((await s3.send(new HeadObjectCommand(at('none')))).ContentLength, 0);
  });

  test('a stream whose length nobody knows', async ({ bed }) => {
    const plain = withoutChecksums(bed);
    const seen = sentHeaders(plain);
    const body = bed.payload(2 * MiB + 1);
    await plain.send(new PutObjectCommand({ ...at('unknown'), Body: Readable.from(pieces(body)) }));
    assert.is(seen[0]?.['content-length'], undefined);
    same(await content(await plain.send(new GetObjectCommand(at('unknown')))), body);
    plain.destroy();
  });

  test('a body comes back as a stream', async ({ bed, s3 }) => {
    const body = bed.payload(20 * MiB);
    await s3.send(new PutObjectCommand({ ...at('long'), Body: body }));
    const { Body } = await s3.send(new GetObjectCommand(at('long')));
    const chunks: Buffer[] = [];
    for await (const chunk of Body as Readable) chunks.push(chunk);
    same(Buffer.concat(chunks), body);
  });

  test('every checksum, before a buffer and behind a stream', async ({ bed, s3 }) => {
    const seen = sentHeaders(s3);
    for (const ChecksumAlgorithm of ALGORITHMS) {
      const body = bed.payload(150_000);
      const header = `x-amz-checksum-${ChecksumAlgorithm.toLowerCase()}`;
      const key = at(`sum/${ChecksumAlgorithm}`);
      const stream = Readable.from(pieces(body));
      const one = await s3.send(new PutObjectCommand({ ...key, Body: body, ChecksumAlgorithm }));
      const two = await s3.send(
        new PutObjectCommand({ ...key, Body: stream, ContentLength: body.length, ChecksumAlgorithm }),
      );
      const [buffered, streamed] = seen.splice(0);
      assert.ok(buffered?.[header], ChecksumAlgorithm);
      assert.is(streamed?.['x-amz-trailer'], header);
      assert.is(one[`Checksum${ChecksumAlgorithm}`], buffered?.[header]);
      assert.is(two[`Checksum${ChecksumAlgorithm}`], buffered?.[header]);
      const got = await s3.send(new GetObjectCommand({ ...key, ChecksumMode: 'ENABLED' }));
      same(await content(got), body, ChecksumAlgorithm);
      seen.splice(0);
    }
  });

  test('wrong checksums are refused and the old object stays', async ({ bed, s3 }) => {
    const [old, other] = [bed.payload(9000), bed.payload(9000)];
    await s3.send(new PutObjectCommand({ ...at('kept'), Body: old }));
    for (const wrong of [
      { ChecksumCRC32: 'YWJjZA==' },
      { ChecksumCRC64NVME: 'YWJjZGVmZ2g=' },
      { ChecksumSHA256: Buffer.alloc(32).toString('base64') },
      { ContentMD5: Buffer.alloc(16).toString('base64') },
    ]) {
      const refused = await refusal(s3.send(new PutObjectCommand({ ...at('kept'), Body: other, ...wrong })));
      assert.match(refused, /^400 (BadDigest|XAmzContentChecksumMismatch)$/, JSON.stringify(wrong));
    }
    same(await content(await s3.send(new GetObjectCommand(at('kept')))), old);
  });

  test('a client that sends no checksums of its own accord', async ({ bed }) => {
    const plain = withoutChecksums(bed);
    const seen = sentHeaders(plain);
    const body = bed.payload(300_000);
    const stream = Readable.from(pieces(body));
    await plain.send(new PutObjectCommand({ ...at('bare'), Body: stream, ContentLength: body.length }));
    assert.is(seen[0]?.['x-amz-content-sha256'], 'UNSIGNED-PAYLOAD');
    assert.equal(
      Object.keys(seen[0] ?? {}).filter((name) => name.includes('checksum-crc')),
      [],
    );
    same(await content(await plain.send(new GetObjectCommand(at('bare')))), body);
    plain.destroy();
  });
}
