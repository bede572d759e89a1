import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { S3Error } from '../../../src/objects/s3/error.ts';
import {
  checkUserMetadata,
  joinRepeated,
  passedResponseHeaders,
  requestHeadersUpstream,
  responseHeadersDownstream,
  userMetadata,
  userMetadataSize,
  withoutAwsChunked,
  withoutEnvelope,
  writeHeadersUpstream,
} from '../../../src/objects/s3/headers.ts';

const test = suite('headers');
const hex = 'd41d8cd98f00b204e9800998ecf8427e';

test('what describes the object and its storage goes to the store', () => {
  const kept = {
    'cache-control': 'no-cache',
    'content-disposition': 'inline',
    'content-encoding': 'gzip',
    'content-language': 'de',
    'content-type': 'text/plain',
    expires: 'never',
    'if-none-match': '*',
    origin: 'http://example.com',
    'x-amz-acl': 'private',
    'x-amz-meta-colour': 'green',
    'x-amz-object-lock-mode': 'GOVERNANCE',
    'x-amz-server-side-encryption': 'AES256',
    'x-amz-storage-class': 'STANDARD',
    'x-amz-tagging': 'a=b',
  };
  assert.equal(writeHeadersUpstream(kept), kept);
  const { 'x-amz-meta-colour': _, ...rest } = kept;
  assert.equal(requestHeadersUpstream(kept), rest, 'metadata go where an object gets them');
});

test('repeated headers are joined as SigV4 joins them, and those that node:http takes once stay as they are', () => {
  const raw = [
    'X-Amz-Meta-A',
    'one, two',
    'Host',
    'h',
    'x-amz-meta-a',
    'three',
    'Content-Type',
    'a',
    'content-type',
    'b',
  ];
  const headers = { 'x-amz-meta-a': 'one, two, three', host: 'h', 'content-type': 'a' };
  assert.equal(joinRepeated(headers, raw), { ...headers, 'x-amz-meta-a': 'one, two,three' });
  const once = { 'x-amz-meta-a': 'one, two' };
  assert.is(joinRepeated(once, ['X-Amz-Meta-A', 'one, two']), once);
});

test('metadata that is too large is told in sizes of the caller’s own', () => {
  const ours = { 'x-amz-meta-svc-key-name': 'k'.repeat(188) };
  checkUserMetadata({ ...ours, 'x-amz-meta-a': 'x'.repeat(1847) });
  const over = { ...ours, 'x-amz-meta-a': 'x'.repeat(1848), 'content-type': 'x'.repeat(5000) };
  try {
    checkUserMetadata(over);
    assert.unreachable();
  } catch (error) {
    assert.ok(error instanceof S3Error);
    assert.is(error.code, 'MetadataTooLarge');
    assert.equal(error.details, { Size: '1849', MaxSizeAllowed: '1848' });
  }
});

test('the caller’s signature, framing, checksums and svc metadata do not', () => {
  const dropped = {
    authorization: 'AWS4-HMAC-SHA256 …',
    connection: 'keep-alive',
    'content-encoding': 'aws-chunked',
    'content-length': '1',
    'content-md5': 'x',
    cookie: 'x',
    expect: '100-continue',
    host: 'h',
    'if-range': '"x"',
    range: 'bytes=0-1',
    'transfer-encoding': 'chunked',
    'x-amz-checksum-algorithm': 'CRC32',
    'x-amz-checksum-crc32': 'AAAAAA==',
    'x-amz-checksum-mode': 'ENABLED',
    'x-amz-checksum-type': 'FULL_OBJECT',
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    'x-amz-copy-source': 'b/k',
    'x-amz-copy-source-if-match': '"x"',
    'x-amz-copy-source-range': 'bytes=0-1',
    'x-amz-date': '20260101T000000Z',
    'x-amz-decoded-content-length': '1',
    'x-amz-meta-svc-encrypted': 'false',
    'x-amz-meta-svc-wrapped-dek': 'vault:v1:x',
    'x-amz-mp-object-size': '1',
    'x-amz-sdk-checksum-algorithm': 'CRC32',
    'x-amz-security-token': 'token',
    'x-amz-trailer': 'x-amz-checksum-crc32',
    'x-amz-write-offset-bytes': '0',
    'x-minio-force-delete': 'true',
  };
  assert.equal(writeHeadersUpstream(dropped), {});
});

test('ETags in conditions are the store’s', () => {
  assert.equal(requestHeadersUpstream({ 'if-match': `"${hex}-svc"` }), { 'if-match': `"${hex}"` });
});

test('aws-chunked is taken out of the codings, the others stay in order', () => {
  assert.is(withoutAwsChunked('aws-chunked'), undefined);
  assert.is(withoutAwsChunked('gzip, AWS-Chunked,br'), 'gzip,br');
  assert.is(withoutAwsChunked(undefined), undefined);
  assert.is(withoutAwsChunked('gzip'), 'gzip');
});

const stored = {
  'content-length': '30',
  'content-range': 'bytes 0-1/30',
  'content-type': 'text/plain',
  etag: `"${hex}"`,
  'x-amz-checksum-crc32': 'AAAAAA==',
  'x-amz-checksum-type': 'FULL_OBJECT',
  'x-amz-meta-svc-encrypted': 'true',
  'x-amz-version-id': 'v',
  connection: 'keep-alive',
  'keep-alive': 'timeout=5',
  'transfer-encoding': 'chunked',
};

test('an answer about a decrypted object has nothing of the ciphertext', () => {
  assert.equal(responseHeadersDownstream(stored), {
    'content-type': 'text/plain',
    etag: `"${hex}-svc"`,
    'x-amz-meta-svc-encrypted': 'true',
    'x-amz-version-id': 'v',
  });
});

test('an answer about an object that is not encrypted keeps lengths and checksums', () => {
  const passed = passedResponseHeaders(stored);
  assert.is(passed['content-length'], '30');
  assert.is(passed['x-amz-checksum-crc32'], 'AAAAAA==');
  assert.is(passed['etag'], `"${hex}-svc"`);
  assert.is(passed['connection'], undefined);
});

test('hidden metadata is not among the names that pages may read, either', () => {
  const headers = { 'x-amz-meta-svc-encrypted': 'true', 'x-amz-meta-a': 'b' };
  const told = 'ETag, X-Amz-Meta-Svc-Encrypted, x-amz-meta-a';
  assert.equal(withoutEnvelope({ ...headers, 'access-control-expose-headers': told }), {
    'x-amz-meta-a': 'b',
    'access-control-expose-headers': 'ETag, x-amz-meta-a',
  });
});

test('metadata is counted as S3 counts it, in bytes', () => {
  const umlaut = Buffer.from('ä').toString('latin1');
  assert.is(
    userMetadataSize({ 'x-amz-meta-ab': 'cde', 'x-amz-meta-f': umlaut, 'content-type': 'text/plain' }),
    5 + 3,
  );
});

test('a caller’s metadata under our names is not the caller’s', () => {
  const headers = { 'x-amz-meta-a': '1', 'x-amz-meta-svc-binding': 'none', 'x-amz-acl': 'private' };
  assert.equal(userMetadata(headers), { 'x-amz-meta-a': '1' });
});

test.run();
