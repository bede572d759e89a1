import { createHash, randomBytes } from 'node:crypto';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RequestSigner } from '../../src/objects/s3/sigv4-sign.ts';
import { rawBytes } from '../support/raw-http.ts';
import type { RiggedProxy } from '../support/rig.ts';
import { againstProxy } from './support/target.ts';

const keys = { accessKeyId: 'AKCALLER', secretAccessKey: 'the-secret-of-callers' };
const env = { SVC_PROXY_ACCESS_KEY_ID: keys.accessKeyId, SVC_PROXY_SECRET_ACCESS_KEY: keys.secretAccessKey };
const region = 'eu-central-1';
const secret = Buffer.from('what only the signature of the other bucket opens');
const emptySha256 = createHash('sha256').digest('hex');

const test = suite('the host of a request: what a signature covers, and what browsers may be led to');
/** Without caller keys. */
const target = againstProxy(test);
let signing: RiggedProxy;
/** Without caller keys too, under a further name. */
let known: RiggedProxy;
let port: string;

test.before(async () => {
  const { rig } = target.at;
  await rig.store.createBucket('other');
  signing = await rig.proxy({ env });
  known = await rig.proxy({ args: ['--hosts', 'store.internal, s3.test'] });
  ({ port } = new URL(signing.url));
  for (const Bucket of ['bucket', 'other'])
    await signing.s3.send(
      new PutObjectCommand({ Bucket, Key: 'secret', Body: Bucket === 'other' ? secret : randomBytes(9) }),
    );
});

/** What the proxy answers to that head, byte for byte; `leak` where the other bucket's object is in it. */
async function raw(lines: readonly string[], via = signing): Promise<string> {
  const { status, code, text } = await rawBytes(via.url, `${lines.join('\r\n')}\r\n\r\n`);
  return text.includes(secret.toString()) ? `${status} leak` : `${status} ${code}`;
}

/** A GET of `path` at `host`, signed in its headers. */
function headerSigned(host: string, path: string) {
  const request = { method: 'GET', path, query: '', headers: { host }, payload: emptySha256 };
  const { headers } = new RequestSigner(region).sign(request, keys);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return { path, query: '', host, lines };
}

/** The same, signed in its URL. */
async function presigned(forcePathStyle: boolean, Bucket: string) {
  const endpoint = `http://localhost:${port}`;
  const client = new S3Client({ endpoint, region, forcePathStyle, credentials: keys });
  const url = new URL(await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'secret' })));
  client.destroy();
  return { path: url.pathname, query: url.search, host: url.host, lines: [`Host: ${url.host}`] };
}

const signed = {
  'path style, header': () => headerSigned(`127.0.0.1:${port}`, '/bucket/secret'),
  'virtual-host style, header': () => headerSigned(`bucket.localhost:${port}`, '/secret'),
  'path style, presigned': () => presigned(true, 'bucket'),
  'virtual-host style, presigned': () => presigned(false, 'bucket'),
};

for (const [kind, sign] of Object.entries(signed)) {
  test(`${kind}: an authority on the request line that is not the signed Host is refused`, async () => {
    const { path, query, host, lines } = await sign();
    const get = (authority: string, scheme = 'http') =>
      raw([`GET ${scheme}://${authority}${path}${query} HTTP/1.1`, ...lines]);
    assert.is(await raw([`GET ${path}${query} HTTP/1.1`, ...lines]), '200 undefined', 'origin form');
    assert.is(await get(host), '200 undefined', 'absolute form with the signed host');
    const others = [
      `other.localhost:${port}`,
      'other.localhost',
      `OTHER.localhost:${port}`,
      host.toUpperCase() === host ? 'localhost' : host.toUpperCase(),
      `${host.replace(/:\d+$/, '')}.:${port}`,
      host.replace(/:\d+$/, ''),
      host.replace(/:\d+$/, ':1'),
      `user@${host}`,
      `other.localhost:${port}@${host}`,
      `${host}@other.localhost:${port}`,
      '',
    ];
    for (const authority of others) assert.is(await get(authority), '400 InvalidRequest', authority);
    assert.is(await get(host, 'https'), '400 InvalidRequest', 'https');
    assert.is(await get(`other.localhost:${port}`, 'HTTP'), '400 InvalidRequest', 'HTTP');
  });

  test(`${kind}: more than one Host, and a Host of another form, are refused`, async () => {
    const { path, query, host, lines } = await sign();
    const line = `GET ${path}${query} HTTP/1.1`;
    const other = `Host: other.localhost:${port}`;
    assert.is(await raw([line, ...lines, other]), '400 InvalidRequest', 'second');
    assert.is(await raw([line, other, ...lines]), '400 InvalidRequest', 'first');
    const without = lines.filter((one) => !/^host:/i.test(one));
    for (const odd of [
      `user@${host}`,
      `${host}@other.localhost`,
      `${host}/`,
      `${host},other.localhost`,
      `${host}:1`,
    ])
      assert.is(await raw([line, ...without, `Host: ${odd}`]), '400 InvalidRequest', odd);
    assert.match(await raw([line, ...without, other]), /^403 SignatureDoesNotMatch$/);
    assert.is(
      await raw([line, ...without, `Host: ${host}`, 'X-Forwarded-Host: other.localhost']),
      '200 undefined',
    );
  });
}

const loopback = ['127.0.0.1', '127.9.9.9', 'localhost', 'LOCALHOST', 'localhost.', '[::1]'];
const foreign = [
  'rebound.example.com',
  'localhost.example.com',
  'notlocalhost',
  '127.0.0.1.example.com',
  '127.0.0.1.nip.io',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0.0.0.0',
  '10.0.0.5',
  '169.254.169.254',
  '[::]',
  '[fe80::1]',
];

const anonymous = (host: string, lines: readonly string[] = [], via: RiggedProxy = target.at.proxy) =>
  raw(['GET /other/secret HTTP/1.1', `Host: ${host}`, ...lines], via);

test('without caller keys only loopback names are answered: a name that DNS leads here is not', async () => {
  for (const name of loopback)
    for (const host of [name, `${name}:8190`]) assert.is(await anonymous(host), '200 leak', host);
  const { proxy } = target.at;
  assert.is(await raw(['GET /secret HTTP/1.1', `Host: other.localhost:${port}`], proxy), '200 leak');
  for (const name of foreign)
    for (const host of [name, `${name}:8190`, `${name}.`])
      assert.match(await anonymous(host), /^(403 AccessDenied|400 InvalidRequest)$/, host);
  assert.is(await raw(['GET /other/secret HTTP/1.0'], proxy), '403 AccessDenied', 'no Host at all');
});

test('names that are given with --hosts are answered beside those', async () => {
  for (const host of ['store.internal', 'S3.test:8190', 'store.internal.', 'localhost'])
    assert.is(await anonymous(host, [], known), '200 leak', host);
  for (const host of ['other.store.internal', 'internal', 'rebound.example.com'])
    assert.is(await anonymous(host, [], known), '403 AccessDenied', host);
});

test('without caller keys a browser gets and changes nothing for the pages of others', async () => {
  const host = `localhost:${new URL(target.at.proxy.url).port}`;
  const pages = [
    ['Origin: http://evil.example'],
    ['Origin: null'],
    ['Origin:'],
    ['Origin: http://localhost:3000'],
    [`Origin: https://${host}`],
    [`Origin: http://${host}.evil.example`],
    ['Sec-Fetch-Site: cross-site'],
    ['Sec-Fetch-Site: same-site'],
    ['sec-fetch-site: CROSS-SITE'],
    ['Sec-Fetch-Site: none', 'Origin: http://evil.example'],
    [`Origin: http://${host}`, 'Sec-Fetch-Site: cross-site'],
    ['Sec-Fetch-Site: none', 'Sec-Fetch-Site: cross-site'],
  ];
  const document = '<Delete><Object><Key>secret</Key></Object></Delete>';
  const { proxy } = target.at;
  for (const lines of pages) {
    assert.is(await anonymous(host, lines), '403 AccessDenied', lines.join());
    const head = [
      'POST /other?delete HTTP/1.1',
      `Host: ${host}`,
      `Content-Length: ${document.length}`,
      ...lines,
    ];
    assert.is(await raw([...head, '', document], proxy), '403 AccessDenied', lines.join());
  }
  for (const lines of [[`Origin: http://${host}`], ['Sec-Fetch-Site: same-origin'], ['Sec-Fetch-Site: none']])
    assert.is(await anonymous(host, lines), '200 leak', lines.join());
});

test('a preflight of a page of others is refused, and no header of its answer lets the page in', async () => {
  for (const via of [target.at.proxy, signing]) {
    const lines = ['Origin: http://evil.example', 'Access-Control-Request-Method: PUT'];
    const { host } = new URL(via.url);
    const head = ['OPTIONS /other/secret HTTP/1.1', `Host: ${host}`, ...lines];
    const { status, text } = await rawBytes(via.url, `${head.join('\r\n')}\r\n\r\n`);
    assert.is(status, 403);
    assert.not.match(text, /access-control/i);
  }
});

test('a preflight with a body, which could come as slowly as its caller likes, is refused', async () => {
  const { host } = new URL(signing.url);
  const lines = [`Host: ${host}`, 'Origin: http://page.example', 'Access-Control-Request-Method: PUT'];
  for (const body of ['Transfer-Encoding: chunked', 'Content-Length: 1'])
    assert.is(await raw(['OPTIONS /bucket/secret HTTP/1.1', ...lines, body]), '400 InvalidRequest');
});

test('preflights that the store does not answer take no place of requests that are signed', async () => {
  const { toStore } = target.at.rig;
  const { host } = new URL(signing.url);
  const lines = [`Host: ${host}`, 'Origin: http://page.example', 'Access-Control-Request-Method: PUT'];
  toStore.delay(1_500);
  const waiting = Array.from({ length: 150 }, () => raw(['OPTIONS /bucket/secret HTTP/1.1', ...lines]));
  const signed = headerSigned(host, '/other/secret');
  assert.is(await raw([`GET ${signed.path} HTTP/1.1`, ...signed.lines]), '200 leak');
  await toStore.heal();
  const answers = await Promise.all(waiting);
  assert.ok(answers.filter((answer) => answer === '503 SlowDown').length >= 100, answers.join());
});

test('with caller keys the signature decides, whatever the name and the page', async () => {
  const { path, lines } = headerSigned('proxy.example.com', '/other/secret');
  const page = ['Origin: https://app.example.com', 'Sec-Fetch-Site: cross-site'];
  assert.is(await raw([`GET ${path} HTTP/1.1`, ...lines, ...page]), '200 leak');
});

test.run();
