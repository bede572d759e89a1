import { createHash, randomBytes } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rawHttp } from '../support/raw-http.ts';
import { storeKinds } from '../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';

const Bucket = 'bucket';
const name = 'x-amz-meta-md5chksum';
const md5 = (body: Buffer) => createHash('md5').update(body).digest('base64');

for (const kind of storeKinds) {
  const test = suite(`MD5s that callers name, ${kind}`);
  let rig: Rig;
  let proxy: RiggedProxy;
  let s3: S3Client;

  test.before(async () => {
    rig = await startRig({ kind });
    proxy = await rig.proxy();
    s3 = proxy.s3;
  });
  test.after(() => rig?.stop());

  const url = (Key: string) => `${proxy.url}/${Bucket}/${Key}`;

  /** What HEAD, GET and a range say, which must be the same. */
  async function shown(Key: string): Promise<string | undefined> {
    const answers = [
      await rawHttp(url(Key), { method: 'HEAD' }),
      await rawHttp(url(Key)),
      await rawHttp(url(Key), { headers: { range: 'bytes=0-0' } }),
      await rawHttp(url(Key), { method: 'HEAD', headers: { 'x-amz-checksum-mode': 'ENABLED' } }),
    ];
    assert.equal(
      answers.map(({ status }) => status),
      [200, 200, 206, 200],
    );
    const [first, ...others] = answers.map(({ headers }) => headers[name]);
    for (const other of others) assert.is(other, first);
    return first as string | undefined;
  }

  async function stored(Key: string): Promise<Record<string, string>> {
    return (await rig.store.client.send(new HeadObjectCommand({ Bucket, Key }))).Metadata ?? {};
  }

  /** The store has it neither as a value of its own nor within another. */
  async function sealedAtStore(Key: string, digest: string): Promise<void> {
    const metadata = await stored(Key);
    assert.match(metadata['svc-md5'] ?? '', /^[\w-]{39,}$/);
    assert.is(metadata['md5chksum'], undefined);
    const text = JSON.stringify(metadata);
    for (const encoding of ['base64', 'base64url', 'hex'] as const)
      assert.not.ok(text.includes(Buffer.from(digest, 'base64').toString(encoding)), encoding);
  }

  for (const size of [1, 5000, 300_000])
    test(`Content-MD5 of ${size} bytes is returned as metadata and sealed in the store`, async () => {
      const body = randomBytes(size);
      const Key = `content-md5-${size}`;
      const headers = { 'content-md5': md5(body) };
      assert.is((await rawHttp(url(Key), { method: 'PUT', body, headers })).status, 200);
      assert.is(await shown(Key), md5(body));
      await sealedAtStore(Key, md5(body));
    });

  test('without Content-MD5 there is none, and a wrong one stores nothing', async () => {
    const body = randomBytes(500);
    await rawHttp(url('none'), { method: 'PUT', body });
    assert.is(await shown('none'), undefined);
    const headers = { 'content-md5': md5(Buffer.from('another')) };
    const refused = await rawHttp(url('wrong'), { method: 'PUT', body, headers });
    assert.is(refused.status, 400);
    assert.is((await rawHttp(url('wrong'), { method: 'HEAD' })).status, 404);
  });

  test("the caller's own metadata of that name are sealed too, in any spelling", async () => {
    const body = randomBytes(500);
    const own = md5(Buffer.from('of another file'));
    const put = (Key: string, value: string) =>
      s3.send(new PutObjectCommand({ Bucket, Key, Body: body, Metadata: { md5chksum: value, other: 'x' } }));
    await put('own', own);
    assert.is(await shown('own'), own);
    await sealedAtStore('own', own);
    for (const [Key, value] of [
      ['hex', Buffer.from(own, 'base64').toString('hex')],
      ['quoted', `"${own}"`],
      ['url-safe', Buffer.from(own, 'base64').toString('base64url')],
      ['word', 'none'],
    ] as const) {
      await put(Key, value);
      assert.is(await shown(Key), value);
      await sealedAtStore(Key, own);
    }
  });

  test('uploads in parts keep it from Create on, with a list inline and apart', async () => {
    const body = randomBytes(6000);
    for (const [Key, Metadata] of [
      ['inline', {}],
      ['apart', { long: 'x'.repeat(1600) }],
    ] as const) {
      const begun = { Bucket, Key, Metadata: { ...Metadata, md5chksum: md5(body) } };
      const { UploadId } = await s3.send(new CreateMultipartUploadCommand(begun));
      const part = { Bucket, Key, UploadId, PartNumber: 1, Body: body };
      const { ETag } = await s3.send(new UploadPartCommand(part));
      const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
      await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
      assert.is(await shown(Key), md5(body));
      await sealedAtStore(Key, md5(body));
      const wrapped = (await stored(Key))['svc-wrapped-dek'] ?? '';
      assert.is(wrapped.includes('"parts"'), Key === 'inline', wrapped.slice(0, 80));
      await copies(Key, md5(body));
    }
  });

  test('copies keep it, lose it with replaced metadata, or have the one of these', async () => {
    const body = randomBytes(700);
    await rawHttp(url('source'), { method: 'PUT', body, headers: { 'content-md5': md5(body) } });
    await copies('source', md5(body));
    const empty = Buffer.alloc(0);
    await rawHttp(url('folder/'), { method: 'PUT', body: empty, headers: { 'content-md5': md5(empty) } });
    await s3.send(new CopyObjectCommand({ Bucket, Key: 'moved/', CopySource: `${Bucket}/folder/` }));
    const moved = await s3.send(new HeadObjectCommand({ Bucket, Key: 'moved/' }));
    assert.is(moved.Metadata?.['md5chksum'], md5(empty));
  });

  async function copies(Key: string, digest: string): Promise<void> {
    const other = md5(Buffer.from('another'));
    for (const [kept, replaced, expected] of [
      ['kept', undefined, digest],
      ['lost', { a: 'b' }, undefined],
      ['replaced', { md5chksum: other }, other],
    ] as const) {
      const copy = `${kept}-of-${Key}`;
      await s3.send(
        new CopyObjectCommand({
          Bucket,
          Key: copy,
          CopySource: `${Bucket}/${Key}`,
          ...(replaced && { MetadataDirective: 'REPLACE', Metadata: replaced }),
        }),
      );
      assert.is(await shown(copy), expected, copy);
      if (expected !== undefined) await sealedAtStore(copy, expected);
    }
  }

  test('an object that was stored in the clear has it sealed in its copy', async () => {
    const Body = randomBytes(800);
    const Metadata = { md5chksum: md5(Body) };
    await rig.store.client.send(new PutObjectCommand({ Bucket, Key: 'plain', Body, Metadata }));
    await s3.send(new CopyObjectCommand({ Bucket, Key: 'encrypted', CopySource: `${Bucket}/plain` }));
    assert.is(await shown('encrypted'), md5(Body));
    await sealedAtStore('encrypted', md5(Body));
  });

  test('the store cannot put one in the place of another', async () => {
    for (const Key of ['one', 'two']) {
      const body = Buffer.from(Key);
      await rawHttp(url(Key), { method: 'PUT', body, headers: { 'content-md5': md5(body) } });
    }
    const [one, two] = [await stored('one'), await stored('two')];
    const Metadata = { ...one, 'svc-md5': two['svc-md5'] ?? '' };
    const at = { Bucket, Key: 'one', CopySource: `${Bucket}/one` };
    await rig.store.client.send(new CopyObjectCommand({ ...at, MetadataDirective: 'REPLACE', Metadata }));
    for (const method of ['HEAD', 'GET'])
      assert.is((await rawHttp(url('one'), { method })).status, 500, method);
  });

  test('where there is no room, Content-MD5 is not kept, and own metadata are refused', async () => {
    const Body = randomBytes(100);
    const put = (Key: string, length: number, more: object) =>
      s3.send(new PutObjectCommand({ Bucket, Key, Body, Metadata: { long: 'x'.repeat(length) }, ...more }));
    await put('measured', 1000, {});
    const counted = Object.entries(await stored('measured'))
      .filter(([key]) => key !== 'svc-checksum')
      .map(([key, value]) => `${kind === 'minio' ? 'x-amz-meta-' : ''}${key}${value}`.length);
    const used = counted.reduce((sum, length) => sum + length, 0);
    const most = 1000 + 2048 - used;
    await put('full', most, { ContentMD5: md5(Body) });
    assert.is(await shown('full'), undefined);
    const long = 'x'.repeat(most);
    const refused = put('refused', 0, { Metadata: { long, md5chksum: md5(Body) } });
    await refused.then(
      () => assert.unreachable(),
      (error: Error) => assert.is(error.name, 'MetadataTooLarge'),
    );
    const { Body: body } = await s3.send(new GetObjectCommand({ Bucket, Key: 'full' }));
    assert.equal(Buffer.from((await body?.transformToByteArray()) ?? []), Body);
  });

  test.run();
}
