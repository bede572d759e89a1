import { randomBytes } from 'node:crypto';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rawBytes, rawHttp } from '../support/raw-http.ts';
import { againstProxy } from './support/target.ts';

const test = suite('names and metadata that callers may not use');
const target = againstProxy(test);
const body = randomBytes(100);

/** A request with that very request target, which client libraries would tidy up. */
async function raw(method: string, path: string, lines: readonly string[] = []): Promise<string> {
  const { proxy } = target.at;
  const { host } = new URL(proxy.url);
  const content = method === 'PUT' && lines.length === 0 ? 'body' : '';
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, `Content-Length: ${content.length}`, ...lines];
  const { status, code } = await rawBytes(proxy.url, `${head.join('\r\n')}\r\n\r\n${content}`);
  return `${status} ${code}`;
}

const climbing = [
  '/bucket/../bucket/kept',
  '/bucket/a/../kept',
  '/bucket/%2e%2e/bucket/kept',
  '/bucket/a/%2E%2e/kept',
  '/bucket/..%2fbucket%2fkept',
  '/bucket/a/..',
  '/bucket/.',
  '/bucket/./kept',
  '/bucket/a/%2e',
  '/bucket/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '/../bucket/kept',
  '/%2e%2e/bucket/kept',
  '/./bucket/kept',
];
const undecodable = [
  '/bucket/a%00b',
  '/bucket/%00',
  '/bucket/%zz',
  '/bucket/%',
  '/bucket/%4',
  '/bucket/%ff',
  '/bucket/%c3%28',
  '/bucket/%c0%ae%c0%ae/kept',
  '/bucket/%ed%a0%80',
  '/bucket/%f8%88%80%80%80',
  'kept',
  '*',
];

for (const [kind, paths] of Object.entries({ climbing, undecodable }))
  test(`paths: ${kind}`, async () => {
    for (const path of paths)
      for (const method of ['GET', 'PUT', 'DELETE'])
        assert.match(await raw(method, path), /^400 Invalid(URI|BucketName|Request)$/, `${method} ${path}`);
  });

test('paths: empty segments do not lead to another object, even where the store leaves them out', async () => {
  for (const path of ['//bucket/kept', '/bucket//kept', '/bucket/kept/', '/bucket/kept//'])
    assert.match(await raw('GET', path), /^(400 InvalidBucketName|404 NoSuchKey|500 InternalError)$/, path);
});

test('paths: names that are too long', async () => {
  assert.is(await raw('PUT', `/bucket/${'k'.repeat(1025)}`), '400 KeyTooLongError');
  assert.is(await raw('PUT', `/bucket/${'%C3%A4'.repeat(513)}`), '400 KeyTooLongError');
  assert.is(await raw('PUT', `/${'b'.repeat(300)}/k`), '400 InvalidBucketName');
});

const reserved = [
  '.svc/uploads/x/1/e/n/1/d',
  '.svc/manifests/x',
  '.svc/',
  '.svc',
  '%2esvc/x',
  '%2Esvc%2Fx',
  '/.svc/x',
  '/.svc//x',
  './.svc/x',
];

test('reserved keys: whatever is asked of them', async () => {
  for (const key of reserved) {
    const expected = key.startsWith('./') ? '400 InvalidURI' : '403 AccessDenied';
    for (const [method, suffix] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '?uploads'],
      ['PUT', '?partNumber=1&uploadId=x'],
      ['GET', '?acl'],
      ['GET', '?tagging'],
      ['PUT', '?tagging'],
      ['GET', '?attributes'],
    ] as const)
      assert.is(await raw(method, `/bucket/${key}${suffix}`), expected, `${method} ${key}${suffix}`);
  }
});

const reservedSources = [
  '/bucket/.svc/x',
  'bucket/%2Esvc/x',
  'bucket//.svc/x?versionId=1',
  'bucket%2F.svc%2Fx',
  '%2fbucket%2f%2Esvc%2fx?versionId=',
  'bucket%2F%2F.svc/x%3FversionId=1',
];

test('reserved keys: as the source of a copy and in a deletion of many', async () => {
  for (const source of reservedSources)
    for (const path of ['/bucket/new', `/bucket/${target.at.uploadPath}&partNumber=2`])
      assert.is(await raw('PUT', path, [`x-amz-copy-source: ${source}`]), '403 AccessDenied', source);
  const document = '<Delete><Object><Key>.svc/manifests/x</Key></Object></Delete>';
  const url = `${target.at.proxy.url}/bucket?delete`;
  const answer = await rawHttp(url, { method: 'POST', body: Buffer.from(document) });
  assert.match(answer.body.toString(), /<Error>.*<Code>AccessDenied<\/Code>/s);
});

test('copy sources that climb or cannot be read', async () => {
  for (const source of ['bucket/../kept', 'bucket/%2e%2e/kept', 'bucket/%zz', '%00', '', 'bucket', 'bucket/'])
    assert.match(
      await raw('PUT', '/bucket/new', [`x-amz-copy-source: ${source}`]),
      /^400 [A-Za-z]+$/,
      `'${source}'`,
    );
});

test('user metadata beyond what S3 takes', async () => {
  const large = { 'x-amz-meta-large': 'x'.repeat(2048) };
  assert.is(await target.at.send('new', { body, headers: large }), '400 MetadataTooLarge');
  const many = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`x-amz-meta-a${index}`, 'value-of-it-and-more']),
  );
  assert.is(await target.at.send('new', { body, headers: many }), '400 MetadataTooLarge');
  const beside = { 'x-amz-meta-beside': 'x'.repeat(1900) };
  assert.is(await target.at.send('new', { body, headers: beside }), '400 MetadataTooLarge');
  assert.is(await target.at.send('new?uploads', { method: 'POST', headers: large }), '400 MetadataTooLarge');
  const copy = { ...large, 'x-amz-copy-source': '/bucket/kept', 'x-amz-metadata-directive': 'REPLACE' };
  assert.is(await target.at.send('new', { headers: copy }), '400 MetadataTooLarge');
});

test("a caller's metadata under the names of svc is dropped and ours is stored", async () => {
  const headers = {
    'x-amz-meta-svc-encrypted': 'false',
    'x-amz-meta-svc-wrapped-dek': 'vault:v1:forged',
    'x-amz-meta-svc-key-name': 'other',
    'x-amz-meta-svc-binding': 'none',
    'x-amz-meta-svc-anything': 'else',
    'X-Amz-Meta-SVC-Encrypted': 'forged',
    'x-amz-meta-svc_encrypted': 'forged',
    'x-amz-meta-svc.wrapped.dek': 'forged',
    'x-amz-meta--svc-key-name': 'forged',
    'x-amz-meta-_svc_binding': 'forged',
    x_amz_meta_svc_encrypted: 'forged',
    'x-amz-meta-own': 'kept',
  };
  const { rig, send } = target.at;
  for (const key of ['forged', 'forged?x-amz-meta-svc-encrypted=no']) {
    const sent = key.includes('?') ? { 'x-amz-meta-own': 'kept' } : headers;
    assert.is(await send(key, { body, headers: sent }), '200 undefined');
    const at = { Bucket: rig.bucket, Key: 'forged' };
    const { Metadata = {} } = await rig.store.client.send(new HeadObjectCommand(at));
    assert.is(Metadata.own, 'kept');
    assert.is(Metadata['svc-encrypted'], 'true');
    assert.is(Metadata['svc-key-name'], 'svc');
    assert.is(Metadata['svc-binding'], 'key');
    assert.is(Metadata['svc-anything'], undefined);
    assert.not.match(JSON.stringify(Metadata), 'forged');
    assert.is(await send('forged', { method: 'DELETE' }), '204 undefined');
  }
});

test('headers that some store could take for others are refused', async () => {
  for (const name of [
    'x-amz-meta_svc-encrypted',
    'X-Amz-Meta_Svc-Encrypted',
    'x-amz-meta.svc-encrypted',
    'x-amz-copy_source',
    'x-amz-write_offset-bytes',
    'x-amz-server-side-encryption.customer-key',
  ])
    for (const path of ['new', 'new?uploads'])
      assert.is(
        await target.at.send(path, {
          headers: { [name]: '/bucket/kept' },
          ...(path === 'new' ? { body } : { method: 'POST' }),
        }),
        '400 InvalidRequest',
        name,
      );
  const extract = { 'x-amz-meta-snowball_auto-extract': 'true' };
  assert.is(await target.at.send('new', { body, headers: extract }), '501 NotImplemented');
  assert.is(await raw('PUT', '/bucket/new', ['x-amz-meta-svc-encrypted : no']), '400 InvalidRequest');
});

test.run();
