import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  copySourceHeader,
  mergeHoisted,
  parseCopySource,
  parseTarget,
  upstreamPath,
} from '../../../src/objects/s3/request.ts';
import { refusal } from './refusals.ts';

const test = suite('targets');
const named = (target: string, host?: string) => {
  const { bucket, key } = parseTarget(target, host);
  return [bucket, key];
};

const understood: [target: string, host: string | undefined, bucket: string, key: string][] = [
  ['/', undefined, '', ''],
  ['/bucket', undefined, 'bucket', ''],
  ['/bucket/', undefined, 'bucket', ''],
  ['/bucket/a/b', undefined, 'bucket', 'a/b'],
  ['/bucket/w/%C3%A4%20+&%25%3F=%C3%A9//x', undefined, 'bucket', 'w/ä +&%?=é//x'],
  ['/bucket//x', undefined, 'bucket', '/x'],
  ['/bucket/a%2Fb', undefined, 'bucket', 'a/b'],
  ['/bucket/a+b', undefined, 'bucket', 'a+b'],
  ['/bucket/%F0%9F%98%80', undefined, 'bucket', '😀'],
  ['/bucket/...', undefined, 'bucket', '...'],
  ['/bucket/a/.hidden', undefined, 'bucket', 'a/.hidden'],
  ['/key', 'bucket.localhost:8190', 'bucket', 'key'],
  ['/', 'bucket.localhost', 'bucket', ''],
  ['//x', 'my.bucket.LOCALHOST', 'my.bucket', '/x'],
  ['/bucket/key', 'localhost:8190', 'bucket', 'key'],
  ['/bucket/key', '127.0.0.1:8190', 'bucket', 'key'],
  ['/bucket/key', 'bucket.example.com', 'bucket', 'key'],
  ['/key', 'bucket.localhost.:8190', 'bucket', 'key'],
  ['/bucket/key', '[::1]:8190', 'bucket', 'key'],
  ['http://127.0.0.1:8190/bucket/key?acl', '127.0.0.1:8190', 'bucket', 'key'],
  ['HTTP://bucket.localhost:8190/key', 'bucket.localhost:8190', 'bucket', 'key'],
  ['http://127.0.0.1:8190', '127.0.0.1:8190', '', ''],
];

for (const [target, host, bucket, key] of understood) {
  test(`${target} at ${host ?? 'any host'} is ${bucket || 'the service'} ${key}`, () => {
    assert.equal(named(target, host), [bucket, key]);
  });
}

const refused: [target: string, code: string][] = [
  ['', 'InvalidURI'],
  ['*', 'InvalidURI'],
  ['bucket/key', 'InvalidURI'],
  ['/bucket/%', 'InvalidURI'],
  ['/bucket/%4', 'InvalidURI'],
  ['/bucket/%zz', 'InvalidURI'],
  ['/bucket/%00', 'InvalidURI'],
  ['/bucket/%C3', 'InvalidURI'],
  ['/bucket/%C0%AF', 'InvalidURI'],
  ['/bucket/%ED%A0%80', 'InvalidURI'],
  ['/bucket/\u00e4', 'InvalidURI'],
  ['/bucket/a b', 'InvalidURI'],
  ['/bucket/key#part', 'InvalidURI'],
  ['/bucket/.', 'InvalidURI'],
  ['/bucket/..', 'InvalidURI'],
  ['/bucket/a/../b', 'InvalidURI'],
  ['/bucket/a/%2e%2E/b', 'InvalidURI'],
  ['/bucket/a%2F..%2Fb', 'InvalidURI'],
  ['/bucket/key?a=%', 'InvalidURI'],
  ['/bucket/key?%FF', 'InvalidURI'],
  ['/bucket/key?a=%00', 'InvalidURI'],
  ['/..', 'InvalidBucketName'],
  ['/%2e%2e/key', 'InvalidBucketName'],
  ['//key', 'InvalidBucketName'],
  ['/a/key', 'InvalidBucketName'],
  ['/bucket%2Fkey/x', 'InvalidBucketName'],
  ['/b%20ucket/x', 'InvalidBucketName'],
];

const hosts: [target: string, host: string | undefined][] = [
  ['http://bucket.localhost/key', '127.0.0.1'],
  ['http://bucket.localhost/key', undefined],
  ['http://BUCKET.localhost/key', 'bucket.localhost'],
  ['http://bucket.localhost./key', 'bucket.localhost'],
  ['http://bucket.localhost:80/key', 'bucket.localhost'],
  ['http://user@bucket.localhost/key', 'bucket.localhost'],
  ['https://bucket.localhost/key', 'bucket.localhost'],
  ['ftp://bucket.localhost/key', 'bucket.localhost'],
  ['http:///key', 'bucket.localhost'],
  ['/key', 'user@bucket.localhost'],
  ['/key', 'bucket.localhost, other.localhost'],
  ['/key', 'bucket.localhost:8190:1'],
  ['/key', 'bucket.localhost:'],
  ['/key', '[::1'],
  ['/key', ''],
];

for (const [target, host] of hosts) {
  test(`refuses ${target} at the host ${host}`, () => {
    assert.is(
      refusal(() => parseTarget(target, host)),
      'InvalidRequest',
    );
  });
}

for (const [target, code] of refused) {
  test(`refuses ${JSON.stringify(target)}`, () => {
    assert.is(
      refusal(() => parseTarget(target, undefined)),
      code,
    );
  });
}

test('a key has at most 1,024 bytes', () => {
  assert.is(parseTarget(`/bucket/${'a'.repeat(1024)}`, undefined).key.length, 1024);
  assert.is(
    refusal(() => parseTarget(`/bucket/${'a'.repeat(1025)}`, undefined)),
    'KeyTooLongError',
  );
  assert.is(
    refusal(() => parseTarget(`/bucket/${'%C3%A4'.repeat(513)}`, undefined)),
    'KeyTooLongError',
  );
});

const segment = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => {
  return (
    text.isWellFormed() &&
    !text.includes('\0') &&
    !text.split('/').some((part) => part === '.' || part === '..')
  );
});
const key = fc
  .array(segment, { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join('/'))
  .filter((text) => text !== '');

test('what we encode for the store reads back as the same key', () => {
  fc.assert(
    fc.property(key, (text) => {
      const path = upstreamPath('bucket', text);
      assert.match(path, /^\/bucket\/[A-Za-z0-9\-._~/%]*$/);
      assert.equal(named(path), ['bucket', text]);
    }),
  );
});

test('whatever the target, the answer is a key without dot segments or an S3 error', () => {
  const piece = fc.constantFrom(
    '/',
    '.',
    '..',
    '%2e',
    '%2F',
    '%',
    'a',
    '?',
    '&',
    '=',
    '%00',
    '+',
    'bucket',
    '\\',
    '%5c',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      let parsed: ReturnType<typeof parseTarget>;
      try {
        parsed = parseTarget(`/bucket/${pieces.join('')}`, undefined);
      } catch {
        return;
      }
      assert.not.ok(parsed.key.split('/').some((part) => part === '.' || part === '..'));
      assert.not.match(parsed.key, '\0');
    }),
    { numRuns: 1000 },
  );
});

test('the query is decoded, in order, a plus sign is a space', () => {
  const { query, rawQuery } = parseTarget('/bucket?prefix=a+b%2Bc&acl&=x&marker=', undefined);
  assert.is(rawQuery, 'prefix=a+b%2Bc&acl&=x&marker=');
  assert.equal(query.entries, [
    ['prefix', 'a b+c'],
    ['acl', ''],
    ['', 'x'],
    ['marker', ''],
  ]);
  assert.is(query.get('prefix'), 'a b+c');
  assert.is(query.get('acl'), '');
  assert.is(query.get('absent'), undefined);
});

test('headers in the query are told apart from parameters, signature parameters are left out', () => {
  const target =
    '/b1c/k?X-Amz-Signature=ab&X-Amz-Date=d&x-amz-acl=private&X-Amz-Checksum-Mode=ENABLED&versionId=1';
  const { query, hoisted } = parseTarget(target, undefined);
  assert.equal(query.entries, [['versionId', '1']]);
  assert.equal(hoisted, { 'x-amz-acl': 'private', 'x-amz-checksum-mode': 'ENABLED' });
});

test('digests of bodies in the query are left out', () => {
  const target =
    '/b1c/k?x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32&x-amz-checksum-algorithm=SHA1';
  const { query, hoisted } = parseTarget(target, undefined);
  assert.equal(query.entries, []);
  assert.equal(hoisted, { 'x-amz-checksum-algorithm': 'SHA1' });
});

test('parameters of a signature of version 2 are left out, and only these', () => {
  const { query } = parseTarget('/b1c/k?AWSAccessKeyId=a&Expires=1&Signature=b%3D&versionId=1', undefined);
  assert.equal(query.entries, [['versionId', '1']]);
  assert.equal(parseTarget('/b1c/k?Signature=b&x=1', undefined).query.entries, [
    ['Signature', 'b'],
    ['x', '1'],
  ]);
});

test('hoisted headers join the others, and may not contradict them', () => {
  const headers = { host: 'h', 'x-amz-acl': 'private' };
  assert.is(mergeHoisted(headers, {}), headers);
  assert.equal(mergeHoisted(headers, { 'x-amz-meta-a': '1' }), { ...headers, 'x-amz-meta-a': '1' });
  assert.is(
    refusal(() => mergeHoisted(headers, { 'x-amz-acl': 'public-read' })),
    'InvalidRequest',
  );
  assert.is(
    refusal(() => parseTarget('/bucket/k?x-amz-acl=a&X-Amz-Acl=b', undefined)),
    'InvalidRequest',
  );
  assert.is(
    refusal(() => parseTarget('/bucket/k?x-amz-meta-a=%0d%0ax:y', undefined)),
    'InvalidRequest',
  );
});

test('copy sources are read in all their forms', () => {
  const source = { bucket: 'bucket', key: 'ä b/+c' };
  for (const form of [
    'bucket/%C3%A4%20b/%2Bc',
    '/bucket/%C3%A4%20b/%2Bc',
    'bucket%2F%C3%A4+b%2f%2Bc',
    '%2Fbucket%2F%C3%A4%20b%2F%2Bc',
    'bucket/\u00c3\u00a4 b/%2Bc',
    '/bucket/%C3%A4%20b/%2Bc?versionId=',
  ])
    assert.equal(parseCopySource(form), source, form);
  const version = { bucket: 'bucket', key: 'k?a=b', versionId: 'v/1' };
  assert.equal(parseCopySource('bucket%2Fk?a=b?versionId=v%2F1'), version);
  assert.equal(parseCopySource('bucket/k%3FversionId=x'), { bucket: 'bucket', key: 'k?versionId=x' });
});

test('what we write as a copy source reads back', () => {
  fc.assert(
    fc.property(
      key,
      fc.option(
        fc.string({ minLength: 1 }).filter((text) => !text.includes('\0')),
        { nil: undefined },
      ),
      (text, versionId) => {
        const source = { bucket: 'bucket', key: text, ...(versionId === undefined ? {} : { versionId }) };
        assert.equal(parseCopySource(copySourceHeader(source)), source);
      },
    ),
  );
});

for (const header of [
  '',
  'bucket',
  '/bucket',
  'bucket/',
  '/',
  'b/k',
  'bucket/%',
  'bucket/\u00e4',
  'bucket/%00',
  '//bucket/key',
  '%2F%2Fbucket%2Fkey',
  'bucket%252Fkey',
  '192.168.1.1/key',
  'bucket/k?versionId=%zz',
  'arn:aws:s3:::bucket/key',
]) {
  test(`refuses the copy source ${JSON.stringify(header)}`, () => {
    assert.is(
      refusal(() => parseCopySource(header)),
      'InvalidArgument',
    );
  });
}

for (const header of [
  'bucket/../other/key',
  'bucket%2F..%2Fother%2Fkey',
  'bucket/%2e%2E/key',
  'bucket%2f.%2fkey',
  '..%2fbucket/key',
  'bucket/k%3FversionId=../../key',
  'bucket//../key',
])
  test(`a copy source may not climb: ${header}`, () => {
    assert.is(
      refusal(() => parseCopySource(header)),
      'InvalidArgument',
    );
  });

test('a query of more than 64 parameters is refused before any is decoded', () => {
  const query = (count: number) => Array.from({ length: count }, (_, index) => `a${index}`).join('&');
  assert.is(parseTarget(`/bucket/k?${query(64)}`, undefined).query.entries.length, 64);
  assert.is(
    refusal(() => parseTarget(`/bucket/k?${query(65)}&%zz`, undefined)),
    'InvalidRequest',
  );
});

test.run();
