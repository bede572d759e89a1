import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inBlocks, textInBlocks } from '../../../src/runtime/bounds/block-body.ts';

const test = suite('bodies made block by block');

test('blocks hold the pieces in their order, each full but the last', () => {
  const piece = fc.uint8Array({ maxLength: 20 });
  fc.assert(
    fc.property(fc.array(piece), fc.integer({ min: 1, max: 16 }), (pieces, size) => {
      const blocks = [...inBlocks(pieces, size)];
      assert.ok(Buffer.concat(blocks).equals(Buffer.concat(pieces)));
      for (const block of blocks.slice(0, -1)) assert.is(block.length, size);
      assert.is(new Set(blocks.map(({ buffer }) => buffer)).size, blocks.length);
    }),
  );
});

test('a piece may be overwritten once the next one is asked for', () => {
  const shared = Buffer.alloc(3);
  function* pieces() {
    for (const byte of [1, 2, 3]) yield shared.fill(byte);
  }
  assert.equal(Buffer.concat([...inBlocks(pieces(), 4)]), Buffer.from([1, 1, 1, 2, 2, 2, 3, 3, 3]));
});

test('a text is not cut within a character', () => {
  for (const before of [0, 1]) {
    const text = 'a'.repeat(before) + '😀'.repeat(20_000);
    const { length, blocks } = textInBlocks(text);
    const whole = Buffer.concat([...blocks]);
    assert.is(whole.toString(), text);
    assert.is(whole.length, length);
  }
});

test.run();
