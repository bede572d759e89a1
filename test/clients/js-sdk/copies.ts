import {
  CopyObjectCommand,
  type CopyObjectCommandInput,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import * as assert from 'uvu/assert';
import { BUCKET } from '../bed.ts';
import { FAITHFUL_KEYS, LONGEST_KEY } from '../odd-keys.ts';
import { at, content, own, refusal, type SdkSuite, same, source } from './sdk.ts';

/** Copies and deletions. */
export function copyTests(test: SdkSuite): void {
  test('copies keep or replace the description and stay readable', async ({ bed, s3 }) => {
    const body = bed.payload(20_000);
    const described = { ContentType: 'text/a', Metadata: { one: '1' } };
    const { ETag } = await s3.send(new PutObjectCommand({ ...at('from'), Body: body, ...described }));
    const copy = (more: Partial<CopyObjectCommandInput> = {}) =>
      s3.send(new CopyObjectCommand({ ...at('to'), CopySource: source('from'), ...more }));
    const expect = async (ContentType: string, Metadata: Record<string, string>) => {
      const got = await s3.send(new GetObjectCommand(at('to')));
      assert.equal([got.ContentType, own(got.Metadata)], [ContentType, Metadata]);
      same(await content(got), body);
    };
    const { CopyObjectResult } = await copy();
    await expect('text/a', { one: '1' });
    assert.is((await s3.send(new HeadObjectCommand(at('to')))).ETag, CopyObjectResult?.ETag);
    await copy({ MetadataDirective: 'REPLACE', ContentType: 'text/b', Metadata: { two: '2' } });
    await expect('text/b', { two: '2' });
    await copy({ CopySourceIfMatch: ETag, MetadataDirective: 'REPLACE', ContentType: 'text/c' });
    await expect('text/c', {});
    assert.is(await refusal(copy({ CopySourceIfNoneMatch: ETag })), '412 PreconditionFailed');
    assert.is(await refusal(copy({ CopySource: source('from-nowhere') })), '404 NoSuchKey');
    await expect('text/c', {});
  });

  test('odd keys are copied and deleted, one and many', async ({ bed, s3 }) => {
    const keys = FAITHFUL_KEYS[bed.store.kind]
      .filter((key) => !key.endsWith('/'))
      .map((key) => `copied/${key}`);
    keys.push(LONGEST_KEY);
    for (const [number, key] of keys.entries()) {
      const body = Buffer.from(`${bed.marker} ${key}`);
      await s3.send(new PutObjectCommand({ ...at(key), Body: body }));
      await s3.send(new CopyObjectCommand({ ...at(`copied/to-${number}`), CopySource: source(key) }));
      await s3.send(new DeleteObjectCommand(at(key)));
      assert.is(await refusal(s3.send(new GetObjectCommand(at(key)))), '404 NoSuchKey', key);
      await s3.send(new CopyObjectCommand({ ...at(key), CopySource: source(`copied/to-${number}`) }));
      same(await content(await s3.send(new GetObjectCommand(at(key)))), body, key);
    }
    const Objects = [
      ...keys.map((Key) => ({ Key })),
      ...keys.map((_, number) => ({ Key: `copied/to-${number}` })),
    ];
    const { Deleted, Errors } = await s3.send(
      new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects } }),
    );
    assert.equal([Deleted?.length, Errors ?? []], [Objects.length, []]);
    const { KeyCount } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: 'copied/' }));
    assert.is(KeyCount, 0);
  });

  test('keys of the proxy itself are refused, alone and among others', async ({ bed, s3 }) => {
    const key = '.svc/manifests/x';
    for (const command of [new GetObjectCommand(at(key)), new HeadObjectCommand(at(key))])
      assert.match(await refusal(s3.send(command as GetObjectCommand)), /^403 /);
    assert.is(await refusal(s3.send(new PutObjectCommand({ ...at(key), Body: 'x' }))), '403 AccessDenied');
    await s3.send(new PutObjectCommand({ ...at('other'), Body: bed.payload(9) }));
    const copy = new CopyObjectCommand({ ...at(key), CopySource: source('other') });
    assert.is(await refusal(s3.send(copy)), '403 AccessDenied');
    const Delete = { Objects: [{ Key: 'other' }, { Key: key }] };
    const { Deleted, Errors } = await s3.send(new DeleteObjectsCommand({ Bucket: BUCKET, Delete }));
    assert.equal(
      Deleted?.map(({ Key }) => Key),
      ['other'],
    );
    assert.equal(
      Errors?.map(({ Key, Code }) => [Key, Code]),
      [[key, 'AccessDenied']],
    );
  });
}
