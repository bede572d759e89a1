import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SignatureVerifier, type SignedRequest } from '../../../src/objects/s3/sigv4-verify.ts';
import { refusal } from './refusals.ts';

const test = suite('SigV4 of callers');

const accessKeyId = 'AKIAIOSFODNN7EXAMPLE';
const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const scope = '20130524/us-east-1/s3/aws4_request';
const signedAt = Date.UTC(2013, 4, 24);
const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const verifierAt = (now: number) =>
  new SignatureVerifier(
    (id) => (id === accessKeyId ? secret : undefined),
    () => now,
  );
const verify = (request: SignedRequest, now = signedAt) => verifierAt(now).verify(request);

function headerSigned(signedHeaders: string, signature: string, credential = `${accessKeyId}/${scope}`) {
  return `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=${signedHeaders},Signature=${signature}`;
}

const standing = { host: 'examplebucket.s3.amazonaws.com', 'x-amz-date': '20130524T000000Z' };
const plainNames = 'host;x-amz-content-sha256;x-amz-date';

function request(over: Partial<SignedRequest>): SignedRequest {
  return { method: 'GET', rawPath: '/', rawQuery: '', ...over, headers: { ...standing, ...over.headers } };
}

/** The examples of the S3 manual, "Authenticating Requests (AWS Signature Version 4)". */
const manual: Record<string, SignedRequest> = {
  'GET Object': request({
    rawPath: '/test.txt',
    headers: {
      range: 'bytes=0-9',
      'x-amz-content-sha256': emptySha256,
      authorization: headerSigned(
        'host;range;x-amz-content-sha256;x-amz-date',
        'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      ),
    },
  }),
  'PUT Object, a path that is not encoded as SigV4 does': request({
    method: 'PUT',
    rawPath: '/test$file.text',
    headers: {
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      authorization: headerSigned(
        'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
        '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
      ),
    },
  }),
  'GET Bucket Lifecycle': request({
    rawQuery: 'lifecycle',
    headers: {
      'x-amz-content-sha256': emptySha256,
      authorization: headerSigned(
        plainNames,
        'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      ),
    },
  }),
  'GET Bucket': request({
    rawQuery: 'prefix=J&max-keys=2',
    headers: {
      'x-amz-content-sha256': emptySha256,
      authorization: headerSigned(
        plainNames,
        '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
      ),
    },
  }),
  'PUT in signed chunks': request({
    method: 'PUT',
    rawPath: '/examplebucket/chunkObject.txt',
    headers: {
      host: 's3.amazonaws.com',
      'content-encoding': 'aws-chunked',
      'content-length': '66824',
      'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      'x-amz-decoded-content-length': '66560',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      authorization: headerSigned(
        'content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class',
        '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
      ),
    },
  }),
  'PUT in signed chunks with a trailer': request({
    method: 'PUT',
    rawPath: '/examplebucket/chunkObject.txt',
    headers: {
      host: 's3.amazonaws.com',
      'content-encoding': 'aws-chunked',
      'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
      'x-amz-decoded-content-length': '66560',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-trailer': 'x-amz-checksum-crc32c',
      authorization: headerSigned(
        'content-encoding;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class;x-amz-trailer',
        '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e',
      ),
    },
  }),
};

for (const [name, example] of Object.entries(manual)) {
  test(`the manual's example verifies: ${name}`, () => {
    const verified = verify(example);
    assert.is(verified.accessKeyId, accessKeyId);
    assert.is(verified.scope, scope);
    assert.is(verified.contentSha256, example.headers['x-amz-content-sha256']);
    assert.is(verified.presigned, false);
  });

  test(`and no longer when anything signed differs: ${name}`, () => {
    const differing: SignedRequest[] = [
      { ...example, method: 'DELETE' },
      { ...example, rawPath: `${example.rawPath}x` },
      { ...example, rawQuery: `${example.rawQuery}&x=1` },
      { ...example, headers: { ...example.headers, host: 'other.s3.amazonaws.com' } },
      { ...example, headers: { ...example.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } },
    ];
    for (const forged of differing)
      assert.is(
        refusal(() => verify(forged)),
        'SignatureDoesNotMatch',
      );
  });
}

const presignedQuery = (over: Record<string, string> = {}) =>
  new URLSearchParams({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${accessKeyId}/${scope}`,
    'X-Amz-Date': '20130524T000000Z',
    'X-Amz-Expires': '86400',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    ...over,
  }).toString();
const presigned = (over: Record<string, string> = {}): SignedRequest => ({
  method: 'GET',
  rawPath: '/test.txt',
  rawQuery: presignedQuery(over),
  headers: { host: 'examplebucket.s3.amazonaws.com' },
});

test("the manual's presigned URL verifies until it expires", () => {
  const verified = verify(presigned(), signedAt + 86_400_000);
  assert.is(verified.presigned, true);
  assert.is(verified.contentSha256, 'UNSIGNED-PAYLOAD');
  assert.is(
    refusal(() => verify(presigned(), signedAt + 86_400_001)),
    'AccessDenied',
  );
});

test('a presigned URL is not valid long before its date, nor with other parameters', () => {
  assert.is(
    refusal(() => verify(presigned(), signedAt - 15 * 60_000 - 1)),
    'RequestTimeTooSkewed',
  );
  assert.is(
    refusal(() => verify(presigned({ 'X-Amz-Expires': '86401' }))),
    'SignatureDoesNotMatch',
  );
  assert.is(
    refusal(() => verify(presigned({ 'X-Amz-Signature': 'abc' }))),
    'SignatureDoesNotMatch',
  );
  assert.is(
    refusal(() => verify(presigned({ versionId: 'other' }))),
    'SignatureDoesNotMatch',
  );
});

const badPresigned: Record<string, Record<string, string>> = {
  'no expiry': { 'X-Amz-Expires': '' },
  'an expiry of nothing': { 'X-Amz-Expires': '0' },
  'more than a week': { 'X-Amz-Expires': '604801' },
  'a negative expiry': { 'X-Amz-Expires': '-1' },
  'a broken date': { 'X-Amz-Date': '2013-05-24' },
};

for (const [what, over] of Object.entries(badPresigned)) {
  test(`refuses presigned URLs with ${what}`, () => {
    assert.is(
      refusal(() => verify(presigned(over))),
      'AuthorizationQueryParametersError',
    );
  });
}

test('refuses a signature parameter given twice', () => {
  const once = presigned();
  const twice = { ...once, rawQuery: `${once.rawQuery}&X-Amz-Expires=86400` };
  assert.is(
    refusal(() => verify(twice)),
    'AuthorizationQueryParametersError',
  );
});

const example = manual['GET Object'] as SignedRequest;
const withHeaders = (headers: SignedRequest['headers']) => ({
  ...example,
  headers: { ...example.headers, ...headers },
});

test('the clock may differ by 15 minutes, not more, in either direction', () => {
  for (const sign of [1, -1]) {
    verify(example, signedAt + sign * 15 * 60_000);
    assert.is(
      refusal(() => verify(example, signedAt + sign * (15 * 60_000 + 1))),
      'RequestTimeTooSkewed',
    );
  }
});

test('every x-amz- header has to be signed', () => {
  assert.is(
    refusal(() => verify(withHeaders({ 'x-amz-meta-added': 'later' }))),
    'AccessDenied',
  );
  const url = presigned();
  assert.is(
    refusal(() => verify({ ...url, headers: { ...url.headers, 'x-amz-acl': 'public-read' } })),
    'AccessDenied',
  );
});

test('the host has to be signed', () => {
  const authorization = headerSigned('x-amz-content-sha256;x-amz-date', 'ab'.repeat(32));
  assert.is(
    refusal(() => verify(withHeaders({ authorization }))),
    'AccessDenied',
  );
});

test('a signed header that is not there is empty, whatever its name means to JavaScript', () => {
  for (const name of ['constructor', '__proto__']) {
    const authorization = headerSigned(`${plainNames};${name}`, 'ab'.repeat(32));
    assert.match(
      refusal(() => verify(withHeaders({ authorization }))),
      /^(SignatureDoesNotMatch|AuthorizationHeaderMalformed|AccessDenied)$/,
      name,
    );
  }
});

test('an unknown access key is InvalidAccessKeyId', () => {
  const authorization = headerSigned(plainNames, 'ab'.repeat(32), `AKIAUNKNOWN/${scope}`);
  assert.is(
    refusal(() => verify(withHeaders({ authorization }))),
    'InvalidAccessKeyId',
  );
});

const badAuthorization: Record<string, [authorization: string, code: string]> = {
  SigV2: ['AWS AKIAIOSFODNN7EXAMPLE:frJIUN8DYpKDtOLCwo//yllqDzg=', 'InvalidRequest'],
  SigV4A: ['AWS4-ECDSA-P256-SHA256 Credential=a,SignedHeaders=b,Signature=c', 'InvalidArgument'],
  'a bearer token': ['Bearer abc', 'InvalidArgument'],
  'parts missing': ['AWS4-HMAC-SHA256 Credential=a,SignedHeaders=host', 'AuthorizationHeaderMalformed'],
  'a signature in capitals': [headerSigned(plainNames, 'AB'.repeat(32)), 'SignatureDoesNotMatch'],
  'another service': [
    headerSigned(plainNames, 'ab'.repeat(32), `${accessKeyId}/20130524/us-east-1/ec2/aws4_request`),
    'AuthorizationHeaderMalformed',
  ],
  'a scope of another day': [
    headerSigned(plainNames, 'ab'.repeat(32), `${accessKeyId}/20130523/us-east-1/s3/aws4_request`),
    'AuthorizationHeaderMalformed',
  ],
};

for (const [what, [authorization, code]] of Object.entries(badAuthorization)) {
  test(`refuses ${what}`, () => {
    assert.is(
      refusal(() => verify(withHeaders({ authorization }))),
      code,
    );
  });
}

test('refuses requests without a signature, with two, and SigV2 in the query', () => {
  const unsigned = request({ rawPath: '/test.txt' });
  assert.is(
    refusal(() => verify(unsigned)),
    'AccessDenied',
  );
  assert.is(
    refusal(() => verify({ ...example, rawQuery: presignedQuery() })),
    'InvalidArgument',
  );
  const old =
    'AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Expires=1175139620&Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D';
  assert.is(
    refusal(() => verify({ ...unsigned, rawQuery: old })),
    'InvalidRequest',
  );
});

test('needs a date and x-amz-content-sha256', () => {
  const { 'x-amz-date': _date, ...undated } = example.headers;
  assert.is(
    refusal(() => verify({ ...example, headers: undated })),
    'AccessDenied',
  );
  const { 'x-amz-content-sha256': _payload, ...unhashed } = example.headers;
  assert.is(
    refusal(() => verify({ ...example, headers: unhashed })),
    'InvalidRequest',
  );
});

test.run();
