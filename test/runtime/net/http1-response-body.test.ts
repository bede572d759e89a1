import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ResponseBody } from '../../../src/runtime/net/http1-response-body.ts';

const test = suite('body of a response');

const flow = { pause: () => undefined, resume: () => undefined, reset: () => undefined };
const bodyOf = (text: string): ResponseBody => {
  const body = new ResponseBody(flow, () => new Error('cut'));
  body.push(Buffer.from(text));
  return body;
};

/** Turns letters into capitals, and remembers whose memory it was given. */
function capitals() {
  const seen: ArrayBufferLike[] = [];
  const transform = (bytes: Buffer): Buffer => {
    seen.push(bytes.buffer);
    return Buffer.from(bytes.toString().toUpperCase());
  };
  return { seen, transform };
}

const textOf = async (body: ResponseBody, max?: number) => String(await body.next(max));

test('what waits behind bytes that were read exactly is given back once it is transformed', async () => {
  const body = bodyOf('tagsegment');
  const { seen, transform } = capitals();
  const tag = await body.exact(3);
  body.through(transform, 7);
  assert.is(await textOf(body), 'SEGMENT');
  assert.is(seen[0]?.byteLength, 0, 'its memory is still held');
  assert.is(String(tag), 'tag', 'the bytes before it are in memory of their own');
});

test('what waits is kept as long as a part of it is still to be read', async () => {
  const body = bodyOf('tagsegmenttagmore');
  const { seen, transform } = capitals();
  await body.exact(3);
  body.through(transform, 7);
  assert.is(await textOf(body, 7), 'SEGMENT');
  assert.is.not(seen[0]?.byteLength, 0);
  assert.is(String(await body.exact(3)), 'tag');
  body.through(transform, 4);
  assert.is(await textOf(body), 'MORE');
  assert.is(seen[1]?.byteLength, 0);
});

test('what waits is kept where a caller has a piece of it', async () => {
  const body = bodyOf('piecesegment');
  const { seen, transform } = capitals();
  const piece = await body.next(5);
  body.through(transform, 7);
  assert.is(await textOf(body), 'SEGMENT');
  assert.is.not(seen[0]?.byteLength, 0);
  assert.is(String(piece), 'piece');
});

test('pieces that arrive one by one are joined, whole or not', async () => {
  const body = bodyOf('ab');
  body.push(Buffer.from('cd'));
  body.push(Buffer.from('ef'));
  assert.is(String(await body.exact(3)), 'abc');
  assert.is(String(await body.exact(2)), 'de');
  body.ended();
  assert.is(await body.exact(2), undefined);
});

test.run();
