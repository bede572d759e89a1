import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ChecksumAlgorithm, createChecksum, expectations } from '../../../src/objects/s3/checksum.ts';
import type { S3Error } from '../../../src/objects/s3/error.ts';
import { checksumHeaders, PlaintextVerifier } from '../../../src/objects/s3/received-payload.ts';
import { announcedLength, payloadMode } from '../../../src/objects/s3/sigv4-sign.ts';
import { refusal } from './refusals.ts';

const test = suite('what a head announces about the body');
const body = Buffer.from('hello');
const other = Buffer.from('hellp');

function base64(algorithm: ChecksumAlgorithm): string {
  const checksum = createChecksum(algorithm);
  checksum.update(body);
  return checksum.digest().toString('base64');
}

function check(headers: IncomingHttpHeaders, data: Buffer, trailers: Record<string, string> = {}) {
  const mode = payloadMode(headers['x-amz-content-sha256'] as string | undefined);
  const verifier = new PlaintextVerifier(expectations(headers, mode));
  verifier.update(data.subarray(0, 2));
  verifier.update(data.subarray(2));
  return checksumHeaders(verifier.finish(new Map(Object.entries(trailers))));
}

test('nothing announced, nothing checked', () => assert.equal(check({}, body), {}));

for (const algorithm of ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'] as const) {
  const name = `x-amz-checksum-${algorithm}`;
  test(`${name} is verified, in the header and in the trailer, and answered`, () => {
    const value = base64(algorithm);
    assert.equal(check({ [name]: value }, body), { [name]: value });
    assert.is(
      refusal(() => check({ [name]: value }, other)),
      'BadDigest',
    );
    const head = { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', 'x-amz-trailer': name };
    assert.equal(check(head, body, { [name]: value }), { [name]: value });
    assert.is(
      refusal(() => check(head, other, { [name]: value })),
      'BadDigest',
    );
    assert.is(
      refusal(() => check(head, body)),
      'MalformedTrailerError',
    );
  });
}

test('Content-MD5 is verified', () => {
  assert.equal(check({ 'content-md5': base64('md5') }, body), {});
  assert.is(
    refusal(() => check({ 'content-md5': base64('md5') }, other)),
    'BadDigest',
  );
});

test('Content-MD5 may have any bits where the padding leaves some over, and a refusal tells both digests', () => {
  const right = base64('md5');
  const [last = ''] = right.slice(-3);
  const odd = `${right.slice(0, -3)}${String.fromCharCode(last.charCodeAt(0) + 1)}==`;
  assert.equal(Buffer.from(odd, 'base64'), Buffer.from(right, 'base64'));
  assert.equal(check({ 'content-md5': odd }, body), {});
  try {
    check({ 'content-md5': right }, other);
    assert.unreachable();
  } catch (error) {
    const { details } = error as S3Error;
    const calculated = createHash('md5').update(other).digest('base64');
    const expected = Buffer.from(right, 'base64').toString('hex');
    assert.equal(details, { ExpectedDigest: expected, CalculatedDigest: calculated });
  }
});

test('the algorithm that the SDK names is the one of the checksum that comes', () => {
  const sum = { 'x-amz-checksum-crc32': base64('crc32') };
  check({ ...sum, 'x-amz-sdk-checksum-algorithm': 'CRC32' }, body);
  check({ 'x-amz-sdk-checksum-algorithm': 'SHA1' }, body);
  assert.is(
    refusal(() => check({ ...sum, 'x-amz-sdk-checksum-algorithm': 'SHA1' }, body)),
    'InvalidRequest',
  );
});

test('a literal x-amz-content-sha256 is verified', () => {
  const sha256 = createHash('sha256').update(body).digest('hex');
  assert.equal(check({ 'x-amz-content-sha256': sha256 }, body), {});
  assert.equal(check({ 'x-amz-content-sha256': sha256.toUpperCase() }, body), {});
  assert.is(
    refusal(() => check({ 'x-amz-content-sha256': sha256 }, other)),
    'XAmzContentSHA256Mismatch',
  );
});

test('all of several announcements are verified', () => {
  const all = { 'content-md5': base64('md5'), 'x-amz-checksum-sha256': base64('sha256') };
  assert.equal(check(all, body), { 'x-amz-checksum-sha256': base64('sha256') });
  const wrong = { ...all, 'content-md5': createHash('md5').update(other).digest('base64') };
  assert.is(
    refusal(() => check(wrong, body)),
    'BadDigest',
  );
});

const malformed: [headers: IncomingHttpHeaders, code: string][] = [
  [{ 'content-md5': 'abc' }, 'InvalidDigest'],
  [{ 'content-md5': '' }, 'InvalidDigest'],
  [{ 'content-md5': `${base64('md5')} ` }, 'InvalidDigest'],
  [{ 'content-md5': base64('md5').replace('=', '') }, 'InvalidDigest'],
  [{ 'content-md5': base64('sha1') }, 'InvalidDigest'],
  [{ 'x-amz-checksum-crc32': 'AAAA' }, 'InvalidRequest'],
  [{ 'x-amz-checksum-crc32': 'AAAAA-==' }, 'InvalidRequest'],
  [{ 'x-amz-checksum-crc31': 'AAAAAA==' }, 'InvalidRequest'],
  [{ 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-checksum-sha1': base64('sha1') }, 'InvalidRequest'],
  [{ 'x-amz-trailer': 'x-amz-checksum-crc32' }, 'InvalidRequest'],
  [
    { 'x-amz-trailer': 'x-amz-meta-a', 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' },
    'InvalidRequest',
  ],
  [{ 'x-amz-content-sha256': 'abc' }, 'InvalidArgument'],
  [{ 'x-amz-content-sha256': 'toString' }, 'InvalidArgument'],
  [{ 'x-amz-content-sha256': 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD' }, 'NotImplemented'],
];

for (const [headers, code] of malformed) {
  test(`refuses ${JSON.stringify(headers)}`, () =>
    assert.is(
      refusal(() => check(headers, body)),
      code,
    ));
}

test('the kind of checksum is no checksum', () => {
  const head = {
    'x-amz-checksum-algorithm': 'CRC32',
    'x-amz-checksum-type': 'FULL_OBJECT',
    'x-amz-checksum-mode': 'x',
  };
  assert.equal(check(head, body), {});
});

test('a trailer that was not announced is not let pass as verified', () => {
  const head = { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' };
  assert.is(
    refusal(() => check(head, body, { 'x-amz-checksum-crc32': 'AAAAAA==' })),
    'MalformedTrailerError',
  );
});

test('modes of payload', () => {
  assert.equal(payloadMode(undefined), { kind: 'unsigned' });
  assert.equal(payloadMode('UNSIGNED-PAYLOAD'), { kind: 'unsigned' });
  assert.equal(payloadMode('STREAMING-AWS4-HMAC-SHA256-PAYLOAD'), {
    kind: 'chunked',
    signed: true,
    trailer: false,
  });
  assert.equal(payloadMode('STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER'), {
    kind: 'chunked',
    signed: true,
    trailer: true,
  });
  assert.equal(payloadMode('STREAMING-UNSIGNED-PAYLOAD-TRAILER'), {
    kind: 'chunked',
    signed: false,
    trailer: true,
  });
});

test('the announced length is of plaintext', () => {
  const chunked = payloadMode('STREAMING-UNSIGNED-PAYLOAD-TRAILER');
  const headers = { 'content-length': '90', 'x-amz-decoded-content-length': '40' };
  assert.is(announcedLength(headers, chunked), 40);
  assert.is(announcedLength(headers, { kind: 'unsigned' }), 90);
  assert.is(announcedLength({}, chunked), undefined);
  for (const [text, code] of [
    ['', 'MissingContentLength'],
    ['1e3', 'MissingContentLength'],
    [' 1', 'MissingContentLength'],
    ['-1', 'IncompleteBody'],
    ['9'.repeat(16), 'EntityTooLarge'],
  ] as const) {
    assert.is(
      refusal(() => announcedLength({ 'x-amz-decoded-content-length': text }, chunked)),
      code,
    );
  }
});

test.run();
