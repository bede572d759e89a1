import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RawBytesOptions, type RawExchange, rawBytes, rawHttp } from '../support/raw-http.ts';
import { againstProxy } from './support/target.ts';

const test = suite('requests that are not well formed');
const target = againstProxy(test);

const get = (headers: Record<string, string>, query = '') =>
  rawHttp(`${target.at.proxy.url}/bucket/kept${query}`, { headers });

test('ranges that lie outside of the object', async () => {
  for (const range of ['bytes=3000-', 'bytes=3000-3001', 'bytes=999999999999-', 'bytes=-0']) {
    const answer = await get({ range });
    assert.is(`${answer.status} ${answer.code}`, '416 InvalidRange', range);
    assert.is(answer.headers['content-range'], 'bytes */3000', range);
  }
});

test('ranges that are none are passed over, as S3 does', async () => {
  for (const range of [
    'bytes=5-2',
    'bytes=-',
    'bytes=a-b',
    'bytes=1-2,5-6',
    'items=0-1',
    'bytes',
    'bytes=--1',
    'bytes=1.5-2',
    `bytes=0-${'9'.repeat(30)}`,
  ]) {
    const { status, body } = await get({ range });
    assert.is(status, 200, range);
    assert.equal(body, target.at.kept, range);
  }
});

const badNumbers = ['0', '-1', '10001', '1e3', 'one', '', '1.5', '99999999999999999999', '0x1'];

test('part numbers that are none, in GET and in PUT', async () => {
  for (const number of badNumbers) {
    const read = await get({}, `?partNumber=${number}`);
    assert.is(`${read.status} ${read.code}`, '400 InvalidArgument', `GET ${number}`);
    const path = `${target.at.uploadPath}&partNumber=${number}`;
    assert.is(await target.at.send(path, { body: Buffer.from('x') }), '400 InvalidArgument', `PUT ${number}`);
  }
  const { status, code } = await get({}, '?partNumber=2');
  assert.is(`${status} ${code}`, '416 InvalidPartNumber');
});

test('parts of an upload that is not there', async () => {
  for (const id of ['nobody', '..%2f..%2fx', '%00', 'x'.repeat(4000)]) {
    const answer = await target.at.send(`kept-upload?partNumber=1&uploadId=${id}`, {
      body: Buffer.from('x'),
    });
    assert.match(answer, /^(404 NoSuchUpload|400 [A-Za-z]+)$/, id.slice(0, 20));
  }
});

test('parameters that are repeated or contradict headers', async () => {
  const { send, uploadPath } = target.at;
  const body = Buffer.from('x');
  assert.is(await send(`${uploadPath}&partNumber=1&partNumber=2`, { body }), '400 InvalidRequest');
  assert.is(await send('new?x-amz-acl=a&x-amz-acl=b', { body }), '400 InvalidRequest');
  const headers = { 'x-amz-acl': 'private' };
  assert.is(await send('new?x-amz-acl=public-read', { body, headers }), '400 InvalidRequest');
});

test('what would put a body into the store unencrypted', async () => {
  const { send, proxy } = target.at;
  const body = Buffer.from('plaintext');
  assert.is(await send('new', { body, headers: { 'x-amz-write-offset-bytes': '0' } }), '501 NotImplemented');
  assert.is(await send('kept?append&position=3000', { method: 'POST', body }), '501 NotImplemented');
  assert.is(await send('kept?select&select-type=2', { method: 'POST', body }), '501 NotImplemented');
  assert.is(await send('new?renameObject', { body }), '501 NotImplemented');
  assert.is(await send('new', { method: 'POST', body }), '405 MethodNotAllowed');
  assert.is(await send('new', { method: 'PATCH', body }), '405 MethodNotAllowed');
  assert.is(await send('new?unknown-subresource', { body }), '501 NotImplemented');
  const form =
    '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\nnew\r\n' +
    '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nplaintext\r\n--b--\r\n';
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const posted = await rawHttp(`${proxy.url}/bucket`, { method: 'POST', headers, body: Buffer.from(form) });
  assert.is(`${posted.status} ${posted.code}`, '501 NotImplemented');
});

/** Sends the lines with CRLF between them, and what follows the head. */
function wire(lines: readonly string[], rest = '', options: RawBytesOptions = {}): Promise<RawExchange> {
  return rawBytes(target.at.proxy.url, `${lines.join('\r\n')}\r\n\r\n${rest}`, options);
}
const put = ['PUT /bucket/new HTTP/1.1', 'Host: localhost'];

test('heads that are too long', async () => {
  for (const lines of [
    [...put, `X: ${'x'.repeat(100_000)}`, 'Content-Length: 1'],
    [...put, ...Array.from({ length: 5000 }, (_, n) => `X-${n}: some value of it`), 'Content-Length: 1'],
    [`GET /bucket/${'x'.repeat(100_000)} HTTP/1.1`, 'Host: localhost'],
  ]) {
    const { status, code } = await wire(lines, 'x');
    assert.match(`${status} ${code}`, /^400 (RequestHeaderSectionTooLarge|KeyTooLongError)$/);
  }
});

const smuggled = 'DELETE /bucket/kept HTTP/1.1\r\nHost: localhost\r\n\r\n';

const ambiguous: readonly (readonly [label: string, lines: readonly string[], rest: string])[] = [
  ['both lengths', ['Content-Length: 5', 'Transfer-Encoding: chunked'], `0\r\n\r\n${smuggled}`],
  ['both lengths, reversed', ['Transfer-Encoding: chunked', 'Content-Length: 5'], `0\r\n\r\n${smuggled}`],
  ['two lengths that differ', ['Content-Length: 0', 'Content-Length: 44'], smuggled],
  ['a list of lengths', ['Content-Length: 0, 44'], smuggled],
  ['a negative length', ['Content-Length: -1'], smuggled],
  ['a length with a sign', ['Content-Length: +0'], smuggled],
  ['a length in hexadecimal', ['Content-Length: 0x0'], smuggled],
  ['a coding with a tab', ['Transfer-Encoding:\tchunked', 'Content-Length: 5'], `0\r\n\r\n${smuggled}`],
  ['a coding nobody knows', ['Transfer-Encoding: xchunked'], `0\r\n\r\n${smuggled}`],
  ['chunked not last', ['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${smuggled}`],
  ['a blank before the colon', ['Transfer-Encoding : chunked'], `0\r\n\r\n${smuggled}`],
  ['a folded header', ['X: a', ' Transfer-Encoding: chunked'], `0\r\n\r\n${smuggled}`],
  ['a bare line feed', ['X: a\nTransfer-Encoding: chunked'], `0\r\n\r\n${smuggled}`],
  ['a NUL in a value', ['X: a\0b', 'Content-Length: 0'], smuggled],
  ['a chunk size that overflows', ['Transfer-Encoding: chunked'], `10000000000000000\r\n${smuggled}`],
  ['a chunk size with a sign', ['Transfer-Encoding: chunked'], `+0\r\n\r\n${smuggled}`],
  ['a chunk longer than its size', ['Transfer-Encoding: chunked'], `1\r\nab\r\n0\r\n\r\n${smuggled}`],
];

test('requests whose end could be understood in two ways are refused, and nothing after them is served', async () => {
  for (const [label, lines, rest] of ambiguous) {
    const { status, code, answers } = await wire([...put, ...lines], rest, { answers: 2, timeoutMs: 10_000 });
    assert.is(`${status} ${code}`, '400 InvalidRequest', label);
    assert.is(answers, 1, label);
  }
});

test('what is not HTTP, or another version of it', async () => {
  for (const lines of [
    ['nonsense'],
    ['GET /bucket/kept HTTP/9.9', 'Host: localhost'],
    ['G\0T /bucket/kept HTTP/1.1', 'Host: localhost'],
    ['GET /bucket/kept HTTP/1.1'],
    ['GET /bucket/kept HTTP/1.1', 'Host: localhost', 'Broken'],
  ]) {
    const { status } = await wire(lines);
    assert.is(status, 400, lines.join(' | '));
  }
  const tls = Buffer.from('160301020001000000', 'hex');
  assert.is((await rawBytes(target.at.proxy.url, tls)).status, 400);
});

test('methods that are none of S3', async () => {
  for (const method of ['TRACE', 'PROPFIND', 'LINK', 'PATCH']) {
    const { status, code } = await wire([`${method} /bucket/kept HTTP/1.1`, 'Host: localhost']);
    assert.is(`${status} ${code}`, '405 MethodNotAllowed', method);
  }
  const tunnel = await wire(['CONNECT bucket:443 HTTP/1.1', 'Host: localhost']);
  assert.is(tunnel.text, '', 'no tunnel, and no answer either');
});

test('a body without a length is refused where an object would be stored', async () => {
  const { status, code } = await wire(put);
  assert.is(`${status} ${code}`, '411 MissingContentLength');
});

test('more than an object can hold is refused before it is sent', async () => {
  const { status, code, text } = await wire([...put, 'Content-Length: 5368709093', 'Expect: 100-continue']);
  assert.is(`${status} ${code}`, '400 EntityTooLarge');
  assert.not.match(text, '100 Continue');
});

test.run();
