import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ResponseBody } from '../../../src/objects/net/http1-response-body.ts';

const test = suite('body of a response');

const flow = { pause: () => undefined, resume: () => undefined, reset: () => undefined };
const bodyOf = (text: string): ResponseBody => {
  const body = new ResponseBody(flow, () => new Error('cut'));
  body.push(Buffer.from(text));
  return body;
};

const textOf = async (body: ResponseBody, max?: number) => String(await body.next(max));

test('bytes are copied into memory of the caller, those that wait first', async () => {
  const body = bodyOf('ab');
  const target = Buffer.alloc(6);
  const filled = body.fill(target);
  for (const piece of ['c', 'de', 'fgh']) body.push(Buffer.from(piece));
  assert.is(await filled, 6);
  assert.is(String(target), 'abcdef');
  assert.is(await textOf(body), 'gh', 'what came behind them');
});

test('as much as has come is copied once the least is there', async () => {
  const body = bodyOf('ab');
  const target = Buffer.alloc(8);
  const filled = body.fill(target, 4);
  body.push(Buffer.from('c'));
  body.push(Buffer.from('def'));
  assert.is(await filled, 6);
  body.push(Buffer.from('ghij'));
  assert.is(await body.fill(target, 1), 4);
  assert.is(String(target), 'ghijef\0\0');
});

test('whatever is read how, while pieces come as they like: all bytes, once and in order', async () => {
  const piece = fc.uint8Array({ minLength: 1, maxLength: 40 });
  const want = fc.record({
    how: fc.constantFrom('next', 'exact', 'fill'),
    most: fc.integer({ min: 1, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 30 }),
      fc.array(want, { minLength: 1 }),
      async (pieces, wants) => {
        const body = bodyOf('');
        const [sent, read]: [Buffer, Buffer[]] = [Buffer.concat(pieces), []];
        const arriving = [...pieces];
        // one piece comes whenever somebody waits
        const step = async <T>(asked: Promise<T>): Promise<T> => {
          let settled = false;
          const done = asked.finally(() => {
            settled = true;
          });
          for (await turn(); !settled; await turn()) {
            const next = arriving.shift();
            if (next === undefined) body.ended();
            else body.push(Buffer.from(next));
          }
          return done;
        };
        for (let at = 0; ; at++) {
          const { how, most } = wants[at % wants.length] as (typeof wants)[0];
          const left = sent.length - read.reduce((sum, { length }) => sum + length, 0);
          if (left === 0) break;
          const size = Math.min(most, left);
          if (how === 'fill') {
            const target = Buffer.alloc(size);
            const filled = await step(body.fill(target, Math.ceil(size / 2)));
            assert.ok(filled >= Math.ceil(size / 2));
            read.push(target.subarray(0, filled));
          } else read.push((await step(how === 'next' ? body.next(size) : body.exact(size))) as Buffer);
        }
        assert.ok(Buffer.concat(read).equals(sent));
      },
    ),
  );
});

test('memory that is asked for and not filled: the end, and a broken connection', async () => {
  const short = bodyOf('abc');
  const ended = short.fill(Buffer.alloc(4));
  short.ended();
  assert.is(await ended, 3);

  const broken = bodyOf('abc');
  const failing = broken.fill(Buffer.alloc(4));
  broken.failed(new Error('reset'));
  const failure = await failing.then(() => undefined, String);
  assert.is(failure, 'Error: cut');
});

test('a full target counts although the connection breaks right behind it', async () => {
  const body = bodyOf('');
  const filled = body.fill(Buffer.alloc(3));
  body.push(Buffer.from('abc'));
  body.failed(new Error('reset'));
  assert.is(await filled, 3);
});

test('the memory of bytes that waited is given back when they are copied', async () => {
  const body = bodyOf('piecesegment');
  const piece = await body.next(5);
  const rest = await body.next();
  assert.is(String(piece), 'piece');
  assert.is.not(piece?.buffer, rest?.buffer, 'in memory of its own');

  const kept: ArrayBuffer[] = [];
  const own = ArrayBuffer.prototype.transfer;
  ArrayBuffer.prototype.transfer = function (this: ArrayBuffer, ...args: [number?]) {
    kept.push(this);
    return own.apply(this, args);
  };
  try {
    body.push(Buffer.from('tagsegment'));
    await body.exact(3);
    await body.fill(Buffer.alloc(7));
  } finally {
    ArrayBuffer.prototype.transfer = own;
  }
  assert.is(kept.length, 1);
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
