import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { JoinedPieces } from '../../../src/core/s3/received-payload.ts';

const test = suite('joined pieces');

test('the whole is what was added, in order, however it was cut', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 1500, size: 'max' }), (cut) => {
      const pieces = new JoinedPieces();
      for (const piece of cut) pieces.add(Buffer.from(piece));
      const expected = Buffer.concat(cut);
      assert.is(pieces.size, expected.length);
      assert.ok(pieces.whole().equals(expected));
    }),
    { numRuns: 50 },
  );
});

test('pieces that were joined do not depend on the memory that they came in', () => {
  const block = Buffer.alloc(256, 'a');
  const pieces = new JoinedPieces();
  for (let at = 0; at < block.length; at++) pieces.add(block.subarray(at, at + 1));
  block.fill('b');
  assert.is(pieces.whole().toString(), 'a'.repeat(256));
});

test.run();
