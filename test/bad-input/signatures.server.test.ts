import { createHash, randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChunkSigner } from '../../src/objects/s3/chunk-encoder.ts';
import { RequestSigner, type SigningCredentials } from '../../src/objects/s3/sigv4-sign.ts';
import { type RawCall, rawHttp } from '../support/raw-http.ts';
import { presignedPut } from './support/presigned.ts';
import { againstProxy } from './support/target.ts';

const keys = { accessKeyId: 'AKCALLER', secretAccessKey: 'the-secret-of-callers' };
const env = { SVC_PROXY_ACCESS_KEY_ID: keys.accessKeyId, SVC_PROXY_SECRET_ACCESS_KEY: keys.secretAccessKey };
const test = suite('signatures of callers that do not hold');
const target = againstProxy(test, { env });
const minute = 60_000;
const body = randomBytes(1000);
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

interface Signing {
  readonly key?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
  readonly credentials?: SigningCredentials;
  /** Milliseconds by which the signer's clock is off. */
  readonly skew?: number;
}

/** Headers of a request for `<bucket>/<key>`, and what its chunks are signed from. */
function sign({ key = 'new', method = 'PUT', headers = {}, payload, credentials, skew = 0 }: Signing = {}) {
  const { rig, proxy } = target.at;
  const signer = new RequestSigner('eu-central-1', () => Date.now() + skew);
  const { host } = new URL(proxy.url);
  const request = { method, path: `/${rig.bucket}/${key}`, query: '', headers: { ...headers, host } };
  return signer.sign({ ...request, payload: payload ?? sha256(body) }, credentials ?? keys);
}

const put = (headers: Record<string, string | string[]>, path = 'new', call: RawCall = {}) =>
  target.at.send(path, { ...(call.method === undefined && { body }), headers, ...call });

test('the same request is taken when nothing is wrong with it', async () => {
  assert.is(await put(sign().headers), '200 undefined');
  const removal = sign({ method: 'DELETE', payload: sha256(Buffer.alloc(0)) });
  assert.is(await put(removal.headers, 'new', { method: 'DELETE' }), '204 undefined');
});

test('no signature, another secret, an unknown key', async () => {
  assert.is(await put({}), '403 AccessDenied');
  const forged = sign({ credentials: { ...keys, secretAccessKey: 'guessed-secret' } });
  assert.is(await put(forged.headers), '403 SignatureDoesNotMatch');
  const unknown = sign({ credentials: { ...keys, accessKeyId: 'AKOTHER' } });
  assert.is(await put(unknown.headers), '403 InvalidAccessKeyId');
});

test('a clock that is off by more than a quarter of an hour', async () => {
  for (const skew of [-16 * minute, 16 * minute, -24 * 60 * minute])
    assert.is(await put(sign({ skew }).headers), '403 RequestTimeTooSkewed', `${skew}`);
});

test('whatever was changed after signing', async () => {
  const { headers } = sign({ headers: { 'x-amz-meta-a': '1' } });
  const { authorization = '' } = headers;
  const signature = authorization.slice(-64);
  const changes: [string, Promise<string>][] = [
    ['key', put(headers, 'kept')],
    ['method', put(headers, 'kept', { method: 'DELETE' })],
    ['query', put(headers, 'new?acl')],
    ['signed header', put({ ...headers, 'x-amz-meta-a': '2' })],
    ['payload hash', put({ ...headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' })],
    ['date', put({ ...headers, 'x-amz-date': sign({ skew: -minute }).headers['x-amz-date'] ?? '' })],
    ['host', put({ ...headers, host: 'elsewhere.test' })],
    ['signature', put({ ...headers, authorization: authorization.replace(signature, 'f'.repeat(64)) })],
    ['region', put({ ...headers, authorization: authorization.replace('eu-central-1', 'us-east-1') })],
  ];
  for (const [label, answer] of changes) assert.is(await answer, '403 SignatureDoesNotMatch', label);
  const added = { ...headers, 'x-amz-acl': 'public-read' };
  assert.is(await put(added), '403 AccessDenied', 'a header that was not signed');
});

test('repeated headers: all values in their order are signed, as one', async () => {
  const { headers } = sign({ headers: { 'x-amz-meta-a': 'one,two', 'x-amz-object-lock-mode': 'a,b' } });
  const lines = (...values: string[]) => put({ ...headers, 'x-amz-meta-a': values });
  for (const [label, answer] of [
    ['another order', lines('two', 'one')],
    ['one left out', lines('one')],
    ['one added', lines('one', 'two', 'three')],
    ['one twice', lines('one', 'two', 'two')],
    ['an empty one added', lines('one', 'two', '')],
  ] as const)
    assert.is(await answer, '403 SignatureDoesNotMatch', label);
  const { headers: other } = sign();
  assert.is(await put({ ...other, 'x-amz-acl': ['private', 'private'] }), '403 AccessDenied', 'not signed');
  const date = other['x-amz-date'] ?? '';
  assert.is(await put({ ...other, 'x-amz-date': [date, date] }), '403 AccessDenied', 'two dates');
  const digest = other['x-amz-content-sha256'] ?? '';
  assert.is(
    await put({ ...other, 'x-amz-content-sha256': [digest, 'UNSIGNED-PAYLOAD'] }),
    '400 InvalidArgument',
  );
});

test('another body under a good signature', async () => {
  const { headers } = sign();
  assert.is(await put(headers, 'new', { body: randomBytes(1000) }), '400 XAmzContentSHA256Mismatch');
  const large = randomBytes(3 * 1024 * 1024);
  const signed = sign({ payload: sha256(large) });
  large.writeUInt8(large.readUInt8(large.length - 1) ^ 1, large.length - 1);
  assert.is(await put(signed.headers, 'new', { body: large }), '400 XAmzContentSHA256Mismatch');
});

test('authorization that has another form', async () => {
  const { headers } = sign();
  const forms: [string, string][] = [
    ['AWS AKCALLER:c2lnbmF0dXJl', '400 InvalidRequest'],
    ['Bearer token', '400 InvalidArgument'],
    ['AWS4-HMAC-SHA256', '400 InvalidArgument'],
    ['AWS4-HMAC-SHA256 Credential=AKCALLER', '400 AuthorizationHeaderMalformed'],
    [(headers.authorization ?? '').replace('/s3/', '/ec2/'), '400 AuthorizationHeaderMalformed'],
    [(headers.authorization ?? '').replace('host', ''), '403 AccessDenied'],
  ];
  for (const [authorization, answer] of forms)
    assert.is(await put({ ...headers, authorization }), answer, authorization.slice(0, 40));
  const both = `new?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=${'0'.repeat(64)}`;
  assert.is(await put(headers, both), '400 InvalidArgument');
  const { ['x-amz-date']: _, ...dateless } = headers;
  assert.is(await put(dateless), '403 AccessDenied');
});

test('presigned URLs: forged, expired, for another key, too long, repeated parameters', async () => {
  const { rig, proxy } = target.at;
  const call = { method: 'PUT', body } as const;
  const url = await presignedPut(proxy.target, rig.bucket, 'new');
  const answer = async (edited: string) => {
    const { status, code } = await rawHttp(edited, call);
    return `${status} ${code}`;
  };
  const signature = /X-Amz-Signature=([0-9a-f]{64})/.exec(url)?.[1] ?? '';
  assert.is(await answer(url.replace(signature, '0'.repeat(64))), '403 SignatureDoesNotMatch');
  assert.is(await answer(url.replace('/new?', '/kept?')), '403 SignatureDoesNotMatch');
  assert.is(await answer(url.replace('X-Amz-Expires=60', 'X-Amz-Expires=6000')), '403 SignatureDoesNotMatch');
  assert.is(await answer(`${url}&x-amz-acl=public-read`), '403 SignatureDoesNotMatch');
  const longest = url.replace('X-Amz-Expires=60', 'X-Amz-Expires=604801');
  assert.is(await answer(longest), '400 AuthorizationQueryParametersError');
  const repeated = `${url}&X-Amz-Expires=60`;
  assert.is(await answer(repeated), '400 AuthorizationQueryParametersError');
  const signedAt = (offset: number) =>
    presignedPut(proxy.target, rig.bucket, 'new', new Date(Date.now() + offset));
  assert.is(await answer(await signedAt(-2 * minute)), '403 AccessDenied');
  assert.is(await answer(await signedAt(20 * minute)), '403 RequestTimeTooSkewed');
});

const trailerName = 'x-amz-checksum-crc32';

interface ChunkLie {
  readonly data?: (data: Buffer, index: number) => Buffer;
  readonly signature?: (signature: string, index: number) => string;
  readonly order?: readonly number[];
}

/** Sends two chunks of 64 KiB and a last one, of which something was changed after signing. */
async function sendChunks(lie: ChunkLie, trailer?: string): Promise<string> {
  const chunks = [randomBytes(65_536), randomBytes(65_536), Buffer.alloc(0)];
  const payload = `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${trailer === undefined ? '' : '-TRAILER'}`;
  const named = trailer === undefined ? undefined : { 'x-amz-trailer': trailerName };
  const headers = { 'x-amz-decoded-content-length': '131072', ...named };
  const head = sign({ payload, headers });
  const signer = new ChunkSigner(head.chunks);
  const frames = chunks.map((data, index) => {
    const signature = lie.signature?.(signer.chunk([data]), index) ?? signer.chunk([data]);
    const sent = lie.data?.(data, index) ?? data;
    const line = Buffer.from(`${sent.length.toString(16)};chunk-signature=${signature}\r\n`);
    return data.length === 0 ? line : Buffer.concat([line, sent, Buffer.from('\r\n')]);
  });
  const ordered = (lie.order ?? [0, 1, 2]).map((index) => frames[index] as Buffer);
  const end = trailer === undefined ? '\r\n' : `${trailerName}:${trailer}\r\n\r\n`;
  return put(head.headers, 'new', { body: Buffer.concat([...ordered, Buffer.from(end)]) });
}

const changed = (signature: string) => (signature.startsWith('0') ? '1' : '0') + signature.slice(1);

test('chunk signatures: each of them wrong, data changed, chunks exchanged', async () => {
  for (const which of [0, 1, 2]) {
    const signature = (good: string, index: number) => (index === which ? changed(good) : good);
    assert.is(await sendChunks({ signature }), '403 SignatureDoesNotMatch', `signature ${which}`);
  }
  for (const which of [0, 1]) {
    const data = (good: Buffer, index: number) => (index === which ? randomBytes(good.length) : good);
    assert.is(await sendChunks({ data }), '403 SignatureDoesNotMatch', `data ${which}`);
  }
  assert.is(await sendChunks({ order: [1, 0, 2] }), '403 SignatureDoesNotMatch', 'exchanged');
  assert.is(await sendChunks({ order: [0, 0, 2] }), '403 SignatureDoesNotMatch', 'repeated');
  assert.is(await sendChunks({ order: [0, 2] }), '400 IncompleteBody', 'dropped');
});

test('a trailer without a signature of its own', async () => {
  assert.is(await sendChunks({}, 'AAAAAA=='), '403 SignatureDoesNotMatch');
});

test('who is not known learns nothing about keys and helpers', async () => {
  for (const path of ['kept', '.svc/manifests/x', 'nothing-there']) {
    for (const method of ['GET', 'PUT', 'DELETE'])
      assert.is(await put({}, path, { method }), '403 AccessDenied', `${method} ${path}`);
    assert.is(await put({}, path, { method: 'POST' }), '405 MethodNotAllowed', path);
    assert.is(await put({}, `${path}?select&select-type=2`, { method: 'POST' }), '501 NotImplemented', path);
    const headers = { 'x-amz-copy-source': path };
    assert.is(await put(headers, path, { method: 'PUT' }), '403 AccessDenied', `copy of ${path}`);
    assert.is(await put(headers, path, { method: 'GET' }), '400 InvalidArgument', path);
  }
});

test('nobody is told the secret or what should have been signed', async () => {
  const { proxy, rig } = target.at;
  const { headers } = sign({ credentials: { ...keys, secretAccessKey: 'guessed-secret' } });
  const answer = await rawHttp(`${proxy.url}/${rig.bucket}/new`, { method: 'PUT', headers, body });
  assert.is(answer.status, 403);
  for (const secret of [keys.secretAccessKey, rig.store.secretAccessKey, sign().headers.authorization ?? 'x'])
    assert.not.ok(answer.body.includes(secret));
  assert.not.ok(answer.body.includes('StringToSign'));
});

test.run();
