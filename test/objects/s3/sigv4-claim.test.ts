import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { S3Error } from '../../../src/objects/s3/error.ts';
import { SignatureVerifier } from '../../../src/objects/s3/sigv4-verify.ts';

const test = suite('what S3 says about signatures that cannot be read');

const now = Date.UTC(2013, 4, 24);
const verifier = new SignatureVerifier(
  (id) => (id === 'AK' ? 'secret' : undefined),
  () => now,
);
const signature = 'ab'.repeat(32);

/** Code, message and details of the refusal. */
function refused(rawQuery: string, headers: Record<string, string>) {
  try {
    verifier.verify({ method: 'GET', rawPath: '/', rawQuery, headers: { host: 'store.test', ...headers } });
  } catch (error) {
    assert.instance(error, S3Error, `not an S3 error: ${error}`);
    const { code, message, details } = error as S3Error;
    return { code, message, details };
  }
  throw new Error('nothing was refused');
}

const byHeader = (authorization: string, over: Record<string, string> = {}) =>
  refused('', {
    'x-amz-date': '20130524T000000Z',
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    authorization,
    ...over,
  });
const withCredential = (credential: string) =>
  byHeader(`AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=host,Signature=${signature}`);

test('an Authorization header of another kind', () => {
  assert.equal(byHeader('nothing'), {
    code: 'InvalidArgument',
    message: "Authorization header is invalid -- one and only one ' ' (space) required.",
    details: { ArgumentName: 'Authorization', ArgumentValue: 'nothing' },
  });
  assert.equal(byHeader('AWS2-HMAC-SHA1 Credential=a'), {
    code: 'InvalidArgument',
    message: 'Unsupported Authorization Type',
    details: { ArgumentName: 'Authorization', ArgumentValue: 'AWS2-HMAC-SHA1' },
  });
  const unsupported =
    'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.';
  assert.is(byHeader('AWS AK:c2lnbmF0dXJl').message, unsupported);
  assert.is(refused('AWSAccessKeyId=AK&Expires=1&Signature=c2ln', {}).message, unsupported);
});

const malformed: Record<string, string> = {
  'Credential=AK/20130524/r/s3/aws4_request,Signature=c':
    'the authorization header requires three components: Credential, SignedHeaders, and Signature.',
  'Credential=AK/20130524/r/s3/aws4_request,SignedHeaders-host,Signature=c':
    'the authorization component "SignedHeaders-host" is malformed.',
  'Name=AK,SignedHeaders=host,Signature=c': 'missing Credential.',
  'Credential=AK/20130524/r/s3/aws4_request,Names=host,Signature=c': 'missing SignedHeaders.',
  'Credential=AK/20130524/r/s3/aws4_request,SignedHeaders=host,Name=c': 'missing Signature.',
};

for (const [components, what] of Object.entries(malformed)) {
  test(`${components} is malformed`, () => {
    const { code, message } = byHeader(`AWS4-HMAC-SHA256 ${components}`);
    assert.is(code, 'AuthorizationHeaderMalformed');
    assert.is(message, `The authorization header is malformed; ${what}`);
  });
}

test('spaces after commas and slashes in the access key ID are taken', () => {
  const spaced = `AWS4-HMAC-SHA256  Credential=AK/20130524/r/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`;
  assert.is(byHeader(spaced).code, 'SignatureDoesNotMatch');
  const slashed = withCredential('A/K/20130524/r/s3/aws4_request');
  assert.is(slashed.code, 'AccessDenied', 'headers that are not signed');
});

const badCredentials: Record<string, string> = {
  'AK/20130524/r/s3/more/things':
    'the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".',
  'AK/r': 'the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".',
  'AK/20130524/r/s3/aws_request': 'incorrect terminal "aws_request". This endpoint uses "aws4_request".',
  'AK/20130524/r/ec2/aws4_request': 'incorrect service "ec2". This endpoint belongs to "s3".',
  'AK/201305/r/s3/aws4_request':
    'incorrect date format "201305". This date in the credential must be in the format "yyyyMMdd".',
};

const query = (over: Record<string, string | undefined> = {}) => {
  const parameters = {
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': 'AK/20130524/r/s3/aws4_request',
    'X-Amz-Date': '20130524T000000Z',
    'X-Amz-Expires': '60',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': signature,
    ...over,
  };
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given as [string, string][]).toString();
};
const byQuery = (over: Record<string, string | undefined>) => refused(query(over), {});

for (const [credential, what] of Object.entries(badCredentials)) {
  test(`the credential ${credential} is refused, in the header and presigned`, () => {
    const header = withCredential(credential);
    assert.is(header.code, 'AuthorizationHeaderMalformed');
    assert.is(header.message, `The authorization header is malformed; ${what}`);
    const presigned = byQuery({ 'X-Amz-Credential': credential });
    assert.is(presigned.code, 'AuthorizationQueryParametersError');
    assert.is(presigned.message, `Error parsing the X-Amz-Credential parameter; ${what}`);
  });
}

test('a presigned URL without one of its parameters', () => {
  for (const name of ['Credential', 'Signature', 'Date', 'SignedHeaders', 'Expires']) {
    const { code, message } = byQuery({ [`X-Amz-${name}`]: undefined });
    assert.is(code, 'AuthorizationQueryParametersError', name);
    assert.match(message, /^Query-string authentication version 4 requires the X-Amz-Algorithm, /, name);
  }
});

const badParameters: [name: string, value: string, message: string][] = [
  ['Algorithm', 'AWS4-SHA256', 'X-Amz-Algorithm only supports "AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256"'],
  ['Algorithm', 'AWS4-ECDSA-P256-SHA256', 'X-Amz-Algorithm only supports "AWS4-HMAC-SHA256"'],
  ['Date', '2013-05-24', `X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`],
  [
    'Date',
    '20130523T000000Z',
    'Invalid credential date "20130524". This date is not the same as X-Amz-Date: "20130523".',
  ],
  ['Expires', 'soon', 'X-Amz-Expires should be a number'],
  ['Expires', '-3', 'X-Amz-Expires must be non-negative'],
  [
    'Expires',
    '604801',
    'X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds',
  ],
];

for (const [name, value, expected] of badParameters) {
  test(`X-Amz-${name}=${value} is refused`, () => {
    const { code, message } = byQuery({ [`X-Amz-${name}`]: value });
    assert.is(code, 'AuthorizationQueryParametersError');
    assert.is(message, expected);
  });
}

test('an expired URL tells when it expired, an unknown key which it was', () => {
  const over = {
    'X-Amz-Date': '20130523T000000Z',
    'X-Amz-Credential': 'AK/20130523/r/s3/aws4_request',
  };
  assert.equal(byQuery(over), {
    code: 'AccessDenied',
    message: 'Request has expired.',
    details: {
      ServerTime: '2013-05-24T00:00:00.000Z',
      'X-Amz-Expires': '60',
      Expires: '2013-05-23T00:01:00.000Z',
    },
  });
  const unknown = byQuery({ 'X-Amz-Credential': 'OTHER/20130524/r/s3/aws4_request' });
  assert.equal(unknown.details, { AWSAccessKeyId: 'OTHER' });
});

test('a token that the signature does not cover is no token of ours', () => {
  assert.is(byQuery({}).code, 'SignatureDoesNotMatch');
  assert.is(byQuery({ 'X-Amz-Security-Token': 'token' }).code, 'InvalidToken');
});

test('x-amz-content-sha256 that is none', () => {
  const authorization = `AWS4-HMAC-SHA256 Credential=AK/20130524/r/s3/aws4_request,SignedHeaders=host,Signature=${signature}`;
  const { code, details } = byHeader(authorization, { 'x-amz-content-sha256': 'none' });
  assert.is(code, 'InvalidArgument');
  assert.equal(details, { ArgumentName: 'x-amz-content-sha256', ArgumentValue: 'none' });
});

test('a list of signed headers that is long, or names one twice, before anything is made of it', () => {
  const withNames = (names: string) =>
    byHeader(
      `AWS4-HMAC-SHA256 Credential=AK/20130524/r/s3/aws4_request,SignedHeaders=${names},Signature=${signature}`,
    );
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `h${index}`).join(';');
  const twice = 'the authorization header is malformed; SignedHeaders names a header twice.';
  assert.is(withNames('a;host;x-amz-content-sha256;x-amz-date;a').message.toLowerCase(), twice.toLowerCase());
  assert.match(withNames(`host;${numbered(128)}`).message, /more than 128 names/);
  assert.is(withNames(`host;x-amz-content-sha256;x-amz-date;${numbered(125)}`).code, 'SignatureDoesNotMatch');
});

test.run();
