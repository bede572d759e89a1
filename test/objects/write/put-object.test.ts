import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ObjectServices, RequestContext, ResponseWriter } from '../../../src/objects/context.ts';
import { putObject } from '../../../src/objects/write/put-object.ts';
import { rejection } from '../upstream/support.ts';
import { MemoryUpstream, name, response, source, type TestContext, writeContext } from './support.ts';

const test = suite('PutObject');

const etag = '0123456789abcdef0123456789abcdef';

/** What a caller is told. */
class Told {
  status = 0;
  headers: Record<string, unknown> = {};
  ended = false;
  readonly answer = {
    head: (status: number, headers: Record<string, unknown>) => {
      this.status = status;
      this.headers = headers;
    },
    end: async () => {
      this.ended = true;
    },
  } as unknown as ResponseWriter;
}

async function put(context: TestContext, headers: Record<string, string>, text = 'hello'): Promise<Told> {
  const told = new Told();
  const exchange = {
    request: { ...name, headers },
    payload: {
      length: text.length,
      chunks: () => source([Buffer.from(text)]),
      announcesChecksum: true,
      announced: new Map(),
      checksums: () => new Map(),
    },
    answer: told.answer,
    signal: new AbortController().signal,
  } as unknown as RequestContext;
  await putObject(context as unknown as ObjectServices, exchange);
  return told;
}

async function sent(headers: Record<string, string>) {
  const upstream = new MemoryUpstream();
  const context = writeContext(upstream);
  await put(context, headers);
  return { headers: upstream.requests[0]?.headers ?? {}, context };
}

test('the envelope goes into the metadata', async () => {
  const { headers, context } = await sent({});
  assert.is(headers['x-amz-meta-svc-encrypted'], 'true');
  assert.is(headers['x-amz-meta-svc-wrapped-dek'], context.keys.given[0]?.ciphertext);
  assert.is(headers['x-amz-meta-svc-algorithm'], 'AES-256-GCM');
  assert.is(headers['x-amz-meta-svc-key-name'], 'svc');
  assert.is(headers['x-amz-meta-svc-key-version'], '3');
  assert.is(headers['x-amz-meta-svc-binding'], 'key');
});

test("a caller's own svc metadata is dropped and the rest of it kept", async () => {
  const { headers } = await sent({
    'x-amz-meta-svc-encrypted': 'false',
    'x-amz-meta-svc-other': 'x',
    'x-amz-meta-mine': 'y',
    'content-type': 'text/plain',
    'content-encoding': 'gzip,aws-chunked',
    'cache-control': 'no-cache',
    'x-amz-tagging': 'a=b',
    'x-amz-storage-class': 'STANDARD_IA',
    'x-amz-object-lock-mode': 'GOVERNANCE',
    'x-amz-server-side-encryption': 'AES256',
  });
  assert.is(headers['x-amz-meta-svc-encrypted'], 'true');
  assert.is(headers['x-amz-meta-svc-other'], undefined);
  assert.is(headers['x-amz-meta-mine'], 'y');
  assert.is(headers['content-type'], 'text/plain');
  assert.is(headers['content-encoding'], 'gzip');
  assert.is(headers['cache-control'], 'no-cache');
  assert.is(headers['x-amz-tagging'], 'a=b');
  assert.is(headers['x-amz-storage-class'], 'STANDARD_IA');
  assert.is(headers['x-amz-object-lock-mode'], 'GOVERNANCE');
  assert.is(headers['x-amz-server-side-encryption'], 'AES256');
});

test('checksums of plaintext and signatures of the caller stay here', async () => {
  const { headers } = await sent({
    'content-md5': 'XUFAKrxLKna5cZ2REBfFkg==',
    'x-amz-checksum-sha256': 'x',
    'x-amz-sdk-checksum-algorithm': 'SHA256',
    'x-amz-content-sha256': 'x',
    'x-amz-decoded-content-length': '5',
    authorization: 'AWS4-HMAC-SHA256 x',
  });
  const stray = Object.keys(headers).filter((header) => !header.startsWith('x-amz-meta-svc-'));
  assert.equal(stray, ['x-amz-checksum-crc32']);
});

test('conditions reach the store with its own ETags', async () => {
  const { headers } = await sent({ 'if-match': `"${etag}-svc"`, 'if-none-match': '*' });
  assert.is(headers['if-match'], `"${etag}"`);
  assert.is(headers['if-none-match'], '*');
});

test('metadata that does not fit beside ours is refused before anything is sent', async () => {
  const upstream = new MemoryUpstream();
  const room = 2048 - userBytes((await sent({})).headers);
  const fits = { 'x-amz-meta-a': 'x'.repeat(room - 1) };
  await put(writeContext(upstream), fits);
  assert.is(upstream.requests.length, 1);
  const error = await rejection(put(writeContext(upstream), { 'x-amz-meta-a': 'x'.repeat(room) }));
  assert.is(error.code, 'MetadataTooLarge');
  assert.is(upstream.requests.length, 1);
});

const userBytes = (headers: Readonly<Record<string, string | undefined>>): number =>
  Object.entries(headers)
    .filter(([header]) => header.startsWith('x-amz-meta-'))
    .reduce((sum, [header, value = '']) => sum + header.length - 'x-amz-meta-'.length + value.length, 0);

test("the answer is the store's, of plaintext, with the ETag outward", async () => {
  const upstream = new MemoryUpstream();
  upstream.answer = () =>
    response(200, {
      etag: `"${etag}"`,
      'x-amz-version-id': 'v1',
      'x-amz-checksum-crc32': 'AAAAAA==',
      'x-amz-object-size': '33',
    });
  const { status, headers, ended } = await put(writeContext(upstream), {});
  assert.is(status, 200);
  assert.ok(ended);
  assert.is(headers['etag'], `"${etag}-svc"`);
  assert.is(headers['x-amz-version-id'], 'v1');
  assert.is(headers['x-amz-checksum-crc32'], undefined);
  assert.is(headers['x-amz-object-size'], '5');
});

/** A store without checksums, whose HEAD says `length` and `tag`. */
function unchecked(length: number, tag = etag, status = 200) {
  const upstream = new MemoryUpstream();
  const head = response(status, { etag: `"${tag}"`, 'content-length': String(length) });
  upstream.answer = ({ method }) => (method === 'HEAD' ? head : response(200));
  return { upstream, context: writeContext(upstream, { upstreamChecksum: 'none' }) };
}

test('where the store checks nothing, the stored length is looked at', async () => {
  const { context, upstream } = unchecked(33);
  assert.is((await put(context, {})).status, 200);
  assert.equal(
    upstream.requests.map(({ method }) => method),
    ['PUT', 'HEAD'],
  );
});

test('a body that was not kept whole is a 503', async () => {
  const error = await rejection(put(unchecked(32).context, {}));
  assert.is(error.code, 'ServiceUnavailable');
});

test("another writer's object in its place says nothing about ours", async () => {
  assert.is((await put(unchecked(7, 'f'.repeat(32)).context, {})).status, 200);
  assert.is((await put(unchecked(7, etag, 404).context, {})).status, 200);
});

test.run();
