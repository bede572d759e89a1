import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { OperationHandler } from '../../../../src/objects/context.ts';
import { RequestSigner } from '../../../../src/objects/s3/sigv4-sign.ts';
import { createAuthenticate } from '../../../../src/plugins/proxy/server/admit-request.ts';
import { refusal } from '../../../objects/s3/refusals.ts';
import { elementOf, RawClient, serve } from '../support/serve.ts';

const test = suite('who may call, and for what');

const callerKeys = { accessKeyId: 'AKCALLER', secretAccessKey: 'caller-secret' };
const answer: OperationHandler = async (_context, exchange) => {
  await exchange.payload.read(1024);
  await exchange.answer.end('served');
};
const routes = {
  GetObject: answer,
  PutObject: answer,
  CopyObject: answer,
  PassThrough: answer,
  ListObjects: answer,
};
const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

function signed(host: string, path: string, keys = callerKeys): Record<string, string> {
  const signer = new RequestSigner('us-east-1');
  const request = { method: 'GET', path, query: '', headers: { host }, payload: emptySha256 };
  const { host: _host, ...headers } = signer.sign(request, keys).headers;
  return headers;
}

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  return { status: response.status, code: elementOf(await response.text(), 'Code') };
}

test('with caller keys only those who hold them are served', async () => {
  const server = await serve(routes, { callerKeys });
  const host = `127.0.0.1:${server.port}`;
  const url = `${server.url}/bkt/key`;
  assert.is((await get(url, signed(host, '/bkt/key'))).status, 200);
  assert.equal(await get(url), { status: 403, code: 'AccessDenied' });
  const stranger = { ...callerKeys, accessKeyId: 'AKSTRANGER' };
  assert.equal(await get(url, signed(host, '/bkt/key', stranger)), {
    status: 403,
    code: 'InvalidAccessKeyId',
  });
  const forger = { ...callerKeys, secretAccessKey: 'guessed' };
  assert.equal(await get(url, signed(host, '/bkt/key', forger)), {
    status: 403,
    code: 'SignatureDoesNotMatch',
  });
  assert.equal(await get(url, signed(host, '/bkt/other')), { status: 403, code: 'SignatureDoesNotMatch' });
  await server.stop();
});

test('what is served to nobody is refused as such, and everything else for want of a signature', async () => {
  const server = await serve(routes, { callerKeys });
  const form = await fetch(`${server.url}/bkt`, { method: 'POST' });
  assert.is(elementOf(await form.text(), 'Code'), 'NotImplemented');
  const deletion = await fetch(`${server.url}/bkt?delete`, { method: 'POST' });
  assert.is(elementOf(await deletion.text(), 'Code'), 'AccessDenied');
  await server.stop();
});

test('with caller keys, what a browser asks before it sends anything needs no signature, and opens nothing else', async () => {
  const server = await serve(routes, { callerKeys });
  const ask = async (path: string, method = 'OPTIONS') =>
    (await fetch(`${server.url}${path}`, { method, headers: { origin: 'http://page.test' } })).status;
  assert.is(await ask('/bkt/key'), 200);
  assert.is(await ask('/bkt/.svc/key'), 403);
  for (const method of ['GET', 'PUT', 'HEAD']) assert.is(await ask('/bkt/key', method), 403, method);
  await server.stop();
});

test('without caller keys every signature is as good as none', async () => {
  const server = await serve(routes);
  assert.is((await get(`${server.url}/bkt/key`)).status, 200);
  assert.is((await get(`${server.url}/bkt/key`, signed('elsewhere', '/x'))).status, 200);
  await server.stop();
});

test('beyond loopback, addresses and names that were given are answered, other names are not', () => {
  const asked = (host: string, listen: string) => {
    const authenticate = createAuthenticate({
      callerKeys: undefined,
      listen: { host: listen },
      hosts: ['s3.test'],
    });
    return () => authenticate({ method: 'GET', rawPath: '/', rawQuery: '', headers: { host } });
  };
  for (const host of [
    '10.0.0.5:8190',
    '[fd00::1]:8190',
    '127.0.0.1',
    'localhost',
    'b.localhost',
    's3.test',
    'proxy.test',
  ])
    assert.is(asked(host, 'proxy.test')(), undefined, host);
  for (const host of ['evil.test', 'b.s3.test', '10.0.0.5.test'])
    assert.is(refusal(asked(host, '::')), 'AccessDenied', host);
  assert.is(refusal(asked('10.0.0.5:8190', '127.0.0.1')), 'AccessDenied');
});

test('a form POST, and whatever else would go around encryption, is refused', async () => {
  const server = await serve(routes);
  const form = new FormData();
  form.append('key', 'sneaked');
  form.append('file', 'plaintext');
  const post = await fetch(`${server.url}/bkt`, { method: 'POST', body: form });
  assert.is(post.status, 501);
  assert.is(elementOf(await post.text(), 'Code'), 'NotImplemented');
  const append = await fetch(`${server.url}/bkt/key`, {
    method: 'PUT',
    body: 'more',
    headers: { 'x-amz-write-offset-bytes': '5' },
  });
  assert.is(append.status, 501);
  const select = await fetch(`${server.url}/bkt/key?select&select-type=2`, { method: 'POST', body: '<x/>' });
  assert.is(select.status, 501);
  await server.stop();
});

test('reserved keys are refused as target and as source of a copy', async () => {
  const server = await serve(routes, { stateBucket: 'svc-state' });
  const denied = { status: 403, code: 'AccessDenied' };
  assert.equal(await get(`${server.url}/bkt/.svc/manifests/x`), denied);
  assert.equal(await get(`${server.url}/bkt/%2Esvc%2Fmanifests/x`), denied);
  assert.equal(await get(`${server.url}/bkt//.svc/x`), denied);
  assert.equal(await get(`${server.url}/bkt/.svc/x?acl`), denied);
  assert.equal(await get(`${server.url}/svc-state/any`), denied);
  assert.equal(await get(`${server.url}/svc-state`), denied);
  const copy = (source: string) =>
    fetch(`${server.url}/bkt/key`, { method: 'PUT', headers: { 'x-amz-copy-source': source } });
  assert.is((await copy('/bkt/.svc/manifests/x')).status, 403);
  assert.is((await copy('bkt/%2Esvc/x?versionId=1')).status, 403);
  assert.is((await copy('/svc-state/x')).status, 403);
  assert.is((await copy('/bkt/ordinary')).status, 200);
  await server.stop();
});

test('paths that a store might resolve to another object are refused', async () => {
  const server = await serve(routes);
  for (const path of [
    '/bkt/../other/key',
    '/bkt/a/%2e%2e/.svc/x',
    '/bkt/./key',
    '/bkt/..%2f..%2fetc/passwd',
    '/bkt/a%00b',
    '/bkt/%zz',
    '/bkt/%ff',
    '/../bkt/key',
    '/%2e%2e/key',
  ]) {
    const client = new RawClient(server.port);
    client.send(`GET ${path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    const received = await client.rest();
    assert.match(received, /^HTTP\/1\.1 400 /, path);
    assert.ok(['InvalidURI', 'InvalidBucketName'].includes(elementOf(received, 'Code') ?? ''), path);
  }
  await server.stop();
});

test('a checksum that was verified comes back with the answer to a PUT', async () => {
  const server = await serve(routes);
  const response = await fetch(`${server.url}/bkt/key`, {
    method: 'PUT',
    body: 'hello',
    headers: { 'x-amz-checksum-crc32': 'NhCmhg==' },
  });
  assert.is(response.status, 200);
  assert.is(response.headers.get('x-amz-checksum-crc32'), 'NhCmhg==');
  await server.stop();
});

test.run();
