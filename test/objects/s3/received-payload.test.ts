import { createHash, createSecretKey } from 'node:crypto';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChunkSigner } from '../../../src/objects/s3/chunk-encoder.ts';
import { S3Error } from '../../../src/objects/s3/error.ts';
import { createPayload, type PayloadSource } from '../../../src/objects/s3/received-payload.ts';
import type { VerifiedSignature } from '../../../src/objects/s3/sigv4-verify.ts';

const test = suite('received payload');
const limit = 1 << 20;

type Headers = PayloadSource['headers'];

async function* pieces(...parts: (string | Buffer)[]) {
  for (const part of parts) yield Buffer.from(part);
}

const open = (headers: Headers, parts: (string | Buffer)[], more: Partial<PayloadSource> = {}) =>
  createPayload({ headers, signature: undefined, limit, raw: () => pieces(...parts), ...more });

async function codeOf(headers: Headers, parts: (string | Buffer)[], more: Partial<PayloadSource> = {}) {
  try {
    await open(headers, parts, more).read(1 << 20);
    return 'none';
  } catch (error) {
    return error instanceof S3Error ? error.code : `unexpected ${error}`;
  }
}

const base64 = (algorithm: string, text: string) => createHash(algorithm).update(text).digest('base64');
const hex = (text: string) => createHash('sha256').update(text).digest('hex');
const trailing = {
  'transfer-encoding': 'chunked',
  'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
};

test('a plain body passes without copies', async () => {
  const chunk = Buffer.from('hello');
  const payload = createPayload({
    headers: { 'content-length': '5' },
    signature: undefined,
    limit,
    raw: async function* () {
      yield chunk;
    },
  });
  assert.is(payload.length, 5);
  for await (const got of payload.chunks()) assert.is(got, chunk);
});

test('a request without framing headers has no body, and an unknown length stays unknown', () => {
  assert.is(open({}, []).length, 0);
  assert.is(open({ 'transfer-encoding': 'chunked' }, []).length, undefined);
  assert.is(open({ ...trailing, 'x-amz-decoded-content-length': '7' }, []).length, 7);
});

test('a body that is shorter than announced is incomplete', async () => {
  assert.is(await codeOf({ 'content-length': '6' }, ['hello']), 'IncompleteBody');
});

test('each digest that the caller announced is checked', async () => {
  const length = { 'content-length': '5' };
  const right = {
    'content-md5': base64('md5', 'hello'),
    'x-amz-checksum-sha256': base64('sha256', 'hello'),
    'x-amz-content-sha256': hex('hello'),
  };
  assert.is(await codeOf({ ...length, ...right }, ['he', 'llo']), 'none');
  for (const [name, code] of [
    ['content-md5', 'BadDigest'],
    ['x-amz-checksum-sha256', 'BadDigest'],
    ['x-amz-content-sha256', 'XAmzContentSHA256Mismatch'],
  ] as const) {
    assert.is(await codeOf({ ...length, [name]: right[name] }, ['hellO']), code, name);
  }
  assert.is(await codeOf({ ...length, 'content-md5': 'nonsense' }, ['hello']), 'InvalidDigest');
});

test('the end does not come before everything was checked', async () => {
  const payload = open({ 'content-length': '5', 'content-md5': base64('md5', 'other') }, ['hello']);
  const seen: string[] = [];
  let failure: unknown;
  try {
    for await (const chunk of payload.chunks()) seen.push(chunk.toString());
    seen.push('end');
  } catch (error) {
    failure = error;
  }
  assert.equal(seen, ['hello']);
  assert.is((failure as S3Error).code, 'BadDigest');
});

test('an aws-chunked body with a trailer is decoded and its checksum verified', async () => {
  const sha = base64('sha256', 'hello');
  const headers = { ...trailing, 'x-amz-trailer': 'x-amz-checksum-sha256' };
  const verified: Record<string, string>[] = [];
  const onVerified = (checksums: Readonly<Record<string, string>>) => void verified.push({ ...checksums });
  const body = `5\r\nhello\r\n0\r\nx-amz-checksum-sha256:${sha}\r\n\r\n`;
  assert.is((await open(headers, [body], { onVerified }).read(100)).toString(), 'hello');
  assert.equal(verified, [{ 'x-amz-checksum-sha256': sha }]);
  assert.is(await codeOf(headers, [`5\r\nhellO\r\n0\r\nx-amz-checksum-sha256:${sha}\r\n\r\n`]), 'BadDigest');
  assert.is(await codeOf(headers, ['5\r\nhello\r\n0\r\n\r\n']), 'MalformedTrailerError');
});

test('malformed chunk framing and lies about the length are refused', async () => {
  assert.is(await codeOf(trailing, ['zz\r\nhello\r\n0\r\n\r\n']), 'IncompleteBody');
  assert.is(await codeOf(trailing, ['5\r\nhello world\r\n']), 'IncompleteBody');
  assert.is(await codeOf(trailing, ['5\r\nhello\r\n']), 'IncompleteBody');
  const lying = { ...trailing, 'x-amz-decoded-content-length': '6' };
  assert.is(await codeOf(lying, ['5\r\nhello\r\n0\r\n\r\n']), 'IncompleteBody');
});

test('an aws-chunked body decodes the same however it is cut', async () => {
  const body = Buffer.from('3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n');
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: body.length - 1 })), async (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), body.length];
      const parts = at.slice(1).map((end, index) => body.subarray(at[index], end));
      assert.is((await open(trailing, parts).read(100)).toString(), 'abc0123456789');
    }),
  );
});

const signature: VerifiedSignature = {
  accessKeyId: 'AK',
  presigned: false,
  contentSha256: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  signingKey: createSecretKey(Buffer.alloc(32, 7)),
  timestamp: '20260101T000000Z',
  scope: '20260101/us-east-1/s3/aws4_request',
  seed: 'a'.repeat(64),
};

function signedBody(text: string): string {
  const signer = new ChunkSigner(signature);
  const first = signer.chunk([Buffer.from(text)]);
  return `${text.length.toString(16)};chunk-signature=${first}\r\n${text}\r\n0;chunk-signature=${signer.chunk([])}\r\n\r\n`;
}

test('chunk signatures are checked where callers are authenticated', async () => {
  const headers = { 'content-length': '200', 'x-amz-content-sha256': signature.contentSha256 };
  const body = signedBody('hello');
  assert.is(await codeOf(headers, [body], { signature }), 'none');
  assert.is(await codeOf(headers, [body.replace('hello', 'jello')], { signature }), 'SignatureDoesNotMatch');
  assert.is(await codeOf(headers, [body.replace('hello', 'jello')]), 'none', 'nobody to check them for');
});

test('a signature covers what the body is checked against, whatever another header says', async () => {
  const headers = { 'content-length': '5', 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
  const signed = { ...signature, contentSha256: hex('other') };
  assert.is(await codeOf(headers, ['hello'], { signature: signed }), 'XAmzContentSHA256Mismatch');
});

test('a small body is read up to its limit', async () => {
  const tooLong = (headers: Headers) =>
    open(headers, ['hello'])
      .read(4)
      .then(
        () => 'none',
        (error: S3Error) => error.code,
      );
  assert.is(await tooLong({ 'content-length': '5' }), 'MaxMessageLengthExceeded');
  assert.is(await tooLong({ 'transfer-encoding': 'chunked' }), 'MaxMessageLengthExceeded');
});

test('a body of unknown length is refused as soon as it is too long', async () => {
  assert.is(await codeOf({ 'transfer-encoding': 'chunked' }, ['hel', 'lo'], { limit: 5 }), 'none');
  assert.is(await codeOf({ 'transfer-encoding': 'chunked' }, ['hel', 'lo!'], { limit: 5 }), 'EntityTooLarge');
  assert.is(await codeOf(trailing, ['6\r\nhello!\r\n0\r\n\r\n'], { limit: 5 }), 'EntityTooLarge');
});

test('the chunks of a body that has many are decoded in turns, between which others run', async () => {
  const text = 'a<b>'.repeat(2_000);
  const chunks = Buffer.from(`${[...text].map((char) => `1\r\n${char}\r\n`).join('')}0\r\n\r\n`);
  const headers = {
    'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    'transfer-encoding': 'chunked',
  };
  let turns = 0;
  const payload = createPayload({
    ...{ headers, signature: undefined, limit: text.length },
    nextTurn: async () => void turns++,
    async *raw() {
      yield chunks.subarray(0, 7);
      yield chunks.subarray(7);
    },
  });
  const read = await payload.read(text.length);
  assert.is(read.toString(), text);
  assert.is(turns, 3);
});

test.run();
