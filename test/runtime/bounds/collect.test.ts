import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CollectedBytes, collect } from '../../../src/runtime/bounds/collect.ts';
import { rejection } from '../../keyserver/rejection.ts';

const test = suite('a body in one piece');
const tooLong = () => new Error('too long');

test('is all of its chunks, up to the bound', async () => {
  async function* body() {
    yield Buffer.from('ab');
    yield Buffer.from('');
    yield Buffer.from('cd');
  }
  assert.is(String(await collect(body(), 4, tooLong)), 'abcd');
});

test('ends the body as soon as there is more', async () => {
  const given: string[] = [];
  async function* body() {
    try {
      for (const text of ['ab', 'cd', 'ef']) {
        given.push(text);
        yield Buffer.from(text);
      }
    } finally {
      given.push('ended');
    }
  }
  assert.is(String(await rejection(collect(body(), 3, tooLong))), 'Error: too long');
  assert.equal(given, ['ab', 'cd', 'ended']);
});

test('gives every chunk back that it has taken, whatever comes of it', async () => {
  async function* body(ending: () => void) {
    for (const text of ['ab', 'cd', 'ef']) yield Buffer.from(text);
    ending();
  }
  const cut = () => {
    throw new Error('cut off');
  };
  for (const [most, ending, expected] of [
    [9, () => undefined, 'ab cd ef'],
    [3, () => undefined, 'ab cd'],
    [9, cut, 'ab cd ef'],
  ] as const) {
    const freed: string[] = [];
    const free = (chunk: Buffer) => freed.push(chunk.toString());
    await collect(body(ending), most, tooLong, free).catch(() => undefined);
    assert.is(freed.join(' '), expected);
  }
});

test('the whole is what was added, in order, however it was cut and whatever was expected', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 1500, size: 'max' }),
      fc.nat(3_000),
      (cut, announced) => {
        const pieces = new CollectedBytes(announced);
        for (const piece of cut) pieces.add(piece);
        const expected = Buffer.concat(cut);
        assert.is(pieces.size, expected.length);
        assert.ok(pieces.take().equals(expected));
      },
    ),
    { numRuns: 50 },
  );
});

test('what was collected does not depend on the memory that it came in', () => {
  const block = Buffer.alloc(256, 'a');
  const pieces = new CollectedBytes();
  for (let at = 0; at < block.length; at++) pieces.add(block.subarray(at, at + 1));
  block.fill('b');
  assert.is(pieces.take().toString(), 'a'.repeat(256));
});

test.run();
