import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  encodeComponent,
  encodeKey,
  parseQueryEntries,
  serializeQuery,
} from '../../../src/objects/s3/request.ts';
import { RequestSigner } from '../../../src/objects/s3/sigv4-sign.ts';
import { SignatureVerifier } from '../../../src/objects/s3/sigv4-verify.ts';
import { refusal } from './refusals.ts';

const test = suite('SigV4 beside the AWS SDK');

type HttpRequest = Parameters<SignatureV4['sign']>[0];

class Sha256 {
  readonly #digest;
  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    this.#digest = key === undefined ? createHash('sha256') : createHmac('sha256', bytes(key));
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#digest.update(bytes(data));
  }
  async digest(): Promise<Uint8Array> {
    return this.#digest.digest();
  }
  reset(): void {}
}

function bytes(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}

const now = Date.UTC(2026, 0, 2, 3, 4, 5);
const signingDate = new Date(now);
const credentials = { accessKeyId: 'AKIA/with/slash', secretAccessKey: 'secret+/=' };
const aws = new SignatureV4({
  credentials,
  region: 'eu-central-1',
  service: 's3',
  sha256: Sha256,
  uriEscapePath: false,
  applyChecksum: false,
});
const verifier = new SignatureVerifier(
  (id) => (id === credentials.accessKeyId ? credentials.secretAccessKey : undefined),
  () => now,
);

const key = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .filter((text) => text.isWellFormed());
const name = fc.stringMatching(/^[a-z][a-zA-Z0-9-]{0,8}$/);
const query = fc.dictionary(name, fc.string({ maxLength: 12 }), { maxKeys: 4 });
const headerValue = fc.stringMatching(/^[!-~]( {0,3}[!-~]){0,8}$/);
const headers = fc.dictionary(fc.stringMatching(/^x-amz-meta-[a-z]{1,5}$/), headerValue, { maxKeys: 3 });

function smithyRequest(
  path: string,
  parameters: Record<string, string>,
  given: Record<string, string>,
): HttpRequest {
  return {
    method: 'PUT',
    protocol: 'http:',
    hostname: '127.0.0.1',
    path,
    query: parameters,
    headers: { ...given, host: '127.0.0.1:8190' },
  };
}

test('what the SDK signs in the header verifies', async () => {
  await fc.assert(
    fc.asyncProperty(key, query, headers, async (object, parameters, given) => {
      const rawPath = `/bucket/${encodeKey(object)}`;
      const head = { ...given, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
      const signed = await aws.sign(smithyRequest(rawPath, parameters, head), { signingDate });
      const rawQuery = serializeQuery(Object.entries(parameters));
      verifier.verify({ method: 'PUT', rawPath, rawQuery, headers: signed.headers });
      const other = { method: 'PUT', rawPath: `${rawPath}.`, rawQuery, headers: signed.headers };
      assert.is(
        refusal(() => verifier.verify(other)),
        'SignatureDoesNotMatch',
      );
    }),
  );
});

test('what the SDK presigns verifies', async () => {
  await fc.assert(
    fc.asyncProperty(key, query, async (object, parameters) => {
      const rawPath = `/bucket/${encodeKey(object)}`;
      const head = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'x-amz-storage-class': 'STANDARD' };
      const signed = await aws.presign(smithyRequest(rawPath, parameters, head), {
        signingDate,
        expiresIn: 60,
      });
      const entries = Object.entries(signed.query ?? {}) as [string, string][];
      const rawQuery = entries.map(([field, value]) => `${field}=${encodeComponent(value)}`).join('&');
      const verified = verifier.verify({
        method: 'PUT',
        rawPath,
        rawQuery,
        headers: { host: '127.0.0.1:8190' },
      });
      assert.ok(verified.presigned);
    }),
  );
});

test('we sign as the SDK does', async () => {
  const signer = new RequestSigner('eu-central-1', () => now);
  await fc.assert(
    fc.asyncProperty(key, query, headers, async (object, parameters, given) => {
      const path = `/bucket/${encodeKey(object)}`;
      const head = { ...given, 'content-type': 'text/plain' };
      const query = serializeQuery(Object.entries(parameters));
      const payload = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
      const ours = signer.sign(
        { method: 'PUT', path, query, headers: { ...head, host: '127.0.0.1:8190' }, payload },
        credentials,
      );
      const request = smithyRequest(path, parameters, { ...head, 'x-amz-content-sha256': payload });
      const theirs = await aws.sign(request, { signingDate });
      assert.is(ours.headers['authorization'], theirs.headers['authorization']);
    }),
  );
});

test('a session token is sent and signed; headers that others change are not signed', () => {
  const signer = new RequestSigner('eu-central-1', () => now);
  const { headers: sent } = signer.sign(
    {
      method: 'GET',
      path: '/b/k',
      query: '',
      headers: { host: 'h', 'user-agent': 'svc', 'content-length': '0', expect: '100-continue' },
      payload: 'UNSIGNED-PAYLOAD',
    },
    { ...credentials, sessionToken: 'token' },
  );
  assert.is(sent['x-amz-security-token'], 'token');
  assert.match(
    sent['authorization'] ?? '',
    'SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,',
  );
});

test('a header value is bytes: UTF-8 that holds A0 keeps it', () => {
  const value = Buffer.from('  à la  carte ').toString('latin1');
  const signer = new RequestSigner('eu-central-1', () => now);
  const request = { method: 'GET', path: '/b/k', query: '', payload: 'UNSIGNED-PAYLOAD' };
  const signed = signer.sign({ ...request, headers: { host: 'h', 'x-amz-meta-a': value } }, credentials);
  const canonical = [
    'GET\n/b/k\n\nhost:h',
    'x-amz-content-sha256:UNSIGNED-PAYLOAD',
    'x-amz-date:20260102T030405Z',
    'x-amz-meta-a:à la carte\n',
    'host;x-amz-content-sha256;x-amz-date;x-amz-meta-a',
    'UNSIGNED-PAYLOAD',
  ];
  const text = `AWS4-HMAC-SHA256\n20260102T030405Z\n20260102/eu-central-1/s3/aws4_request\n${createHash('sha256').update(canonical.join('\n')).digest('hex')}`;
  const expected = createHmac('sha256', signed.chunks.signingKey).update(text).digest('hex');
  assert.is(signed.chunks.seed, expected);
});

test('a query is read back as it was written', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.string()), { maxLength: 5 }), (entries) => {
      const clean = entries.map(
        ([field, value]) => [field.replaceAll('\0', ''), value.replaceAll('\0', '')] as const,
      );
      assert.equal(parseQueryEntries(serializeQuery(clean)), clean);
    }),
  );
});

test.run();
