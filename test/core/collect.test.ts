import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { collect } from '../../src/core/collect.ts';
import { rejection } from '../runtime/vault/rejection.ts';

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

test.run();
