import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import * as assert from 'uvu/assert';
import { MiB } from '../bed.ts';
import { at, content, type SdkSuite, same } from './sdk.ts';

const KEY = 'signed/ä +&%?=é x';

/** URLs that the SDK signs and others use. */
export function presignedTests(test: SdkSuite): void {
  test('presigned PUT, GET, HEAD and DELETE', async ({ bed, s3 }) => {
    const body = bed.payload(50_000);
    const put = new PutObjectCommand({ ...at(KEY), ContentType: 'text/p', Metadata: { a: 'b' } });
    const to = await getSignedUrl(s3, put, { expiresIn: 600 });
    const headers = { 'content-type': 'text/p' };
    const written = await fetch(to, { method: 'PUT', body: new Uint8Array(body), headers });
    assert.is(written.status, 200, await written.text());
    const url = await getSignedUrl(s3, new GetObjectCommand({ ...at(KEY), ResponseContentType: 'text/q' }));
    const got = await fetch(url);
    assert.equal([got.headers.get('content-type'), got.headers.get('x-amz-meta-a')], ['text/q', 'b']);
    same(Buffer.from(await got.arrayBuffer()), body);
    const range = await fetch(url, { headers: { range: 'bytes=5-9' } });
    assert.is(range.status, 206);
    same(Buffer.from(await range.arrayBuffer()), body.subarray(5, 10));
    const head = await fetch(await getSignedUrl(s3, new HeadObjectCommand(at(KEY))), { method: 'HEAD' });
    assert.is(head.headers.get('content-length'), '50000');
    const gone = await fetch(await getSignedUrl(s3, new DeleteObjectCommand(at(KEY))), { method: 'DELETE' });
    assert.is(gone.status, 204);
    assert.is((await fetch(url)).status, 404);
  });

  test('presigned parts', async ({ bed, s3 }) => {
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand(at('signed-parts')));
    const bodies = [bed.payload(5 * MiB), bed.payload(33)];
    const Parts = [];
    for (const [index, body] of bodies.entries()) {
      const PartNumber = index + 1;
      const url = await getSignedUrl(
        s3,
        new UploadPartCommand({ ...at('signed-parts'), UploadId, PartNumber }),
      );
      const answer = await fetch(url, { method: 'PUT', body: new Uint8Array(body) });
      assert.is(answer.status, 200, await answer.text());
      Parts.push({ PartNumber, ETag: answer.headers.get('etag') ?? '' });
    }
    const done = { ...at('signed-parts'), UploadId, MultipartUpload: { Parts } };
    await s3.send(new CompleteMultipartUploadCommand(done));
    same(await content(await s3.send(new GetObjectCommand(at('signed-parts')))), Buffer.concat(bodies));
  });
}
