import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import * as assert from 'uvu/assert';
import { at, content, refusal, type SdkSuite, same } from './sdk.ts';

const OTHER = '"0123456789abcdef0123456789abcdef"';
const HOUR = 3_600_000;

/** Requests that hold under conditions only. */
export function conditionTests(test: SdkSuite): void {
  test('reads hold to If-Match, If-None-Match and times', async ({ bed, s3 }) => {
    const body = bed.payload(500);
    const { ETag } = await s3.send(new PutObjectCommand({ ...at('condition'), Body: body }));
    const get = (more: object) => s3.send(new GetObjectCommand({ ...at('condition'), ...more }));
    const head = (more: object) => s3.send(new HeadObjectCommand({ ...at('condition'), ...more }));
    const { LastModified = new Date() } = await head({});
    const [earlier, later] = [-HOUR, HOUR].map((ms) => new Date(LastModified.getTime() + ms));
    for (const [more, status] of [
      [{ IfNoneMatch: ETag }, '304'],
      [{ IfMatch: OTHER }, '412'],
      [{ IfUnmodifiedSince: earlier }, '412'],
    ] as const) {
      assert.match(await refusal(get(more)), status);
      assert.match(await refusal(head(more)), status);
    }
    for (const more of [
      { IfMatch: ETag },
      { IfNoneMatch: OTHER },
      { IfModifiedSince: earlier },
      { IfUnmodifiedSince: later },
    ]) {
      same(await content(await get(more)), body, JSON.stringify(more));
      assert.is((await head(more)).ContentLength, 500);
    }
    same(await content(await get({ IfMatch: ETag, Range: 'bytes=3-9' })), body.subarray(3, 10));
  });

  test('writes hold to If-None-Match and If-Match', async ({ bed, s3 }) => {
    const bodies = [100, 200, 300].map(bed.payload) as [Buffer, Buffer, Buffer];
    const put = (Body: Buffer, more: object) =>
      s3.send(new PutObjectCommand({ ...at('once'), Body, ...more }));
    const { ETag } = await put(bodies[0], { IfNoneMatch: '*' });
    assert.is(await refusal(put(bodies[1], { IfNoneMatch: '*' })), '412 PreconditionFailed');
    assert.is(await refusal(put(bodies[1], { IfMatch: OTHER })), '412 PreconditionFailed');
    same(await content(await s3.send(new GetObjectCommand(at('once')))), bodies[0]);
    await put(bodies[2], { IfMatch: ETag });
    assert.is(await refusal(put(bodies[1], { IfMatch: ETag })), '412 PreconditionFailed');
    same(await content(await s3.send(new GetObjectCommand(at('once')))), bodies[2]);
  });

  test('what is not there', async ({ s3 }) => {
    assert.is(await refusal(s3.send(new GetObjectCommand(at('absent')))), '404 NoSuchKey');
    assert.is(await refusal(s3.send(new HeadObjectCommand(at('absent')))), '404 NotFound');
    const nowhere = { Bucket: 'no-such-bucket', Key: 'x' };
    assert.is(await refusal(s3.send(new GetObjectCommand(nowhere))), '404 NoSuchBucket');
    assert.is(await refusal(s3.send(new PutObjectCommand({ ...nowhere, Body: 'x' }))), '404 NoSuchBucket');
  });
}
