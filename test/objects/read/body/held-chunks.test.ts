import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HeldChunks } from '../../../../src/objects/read/body/held-chunks.ts';

const test = suite('held chunks');

const owned = (length: number, from: number) =>
  Buffer.from(Uint8Array.from({ length }, (_, index) => (from + index) & 0xff).buffer);

test('what is added comes out in order, and so much stays as was asked for', () => {
  const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40_000 })), {
    maxLength: 60,
  });
  const property = fc.property(lengths, fc.integer({ min: 0, max: 70_000 }), (sizes, left) => {
    const held = new HeldChunks();
    const out: Buffer[] = [];
    let added = 0;
    let given = 0;
    const take = (stays: number) => {
      for (let chunk = held.shift(stays); chunk !== undefined; chunk = held.shift(stays)) {
        given += chunk.length;
        out.push(chunk);
        assert.ok(added - given >= stays);
      }
    };
    for (const size of sizes) {
      const chunk = owned(size, added);
      added += size;
      held.add(chunk, chunk);
      take(left);
    }
    take(0);
    assert.ok(Buffer.concat(out).equals(owned(added, 0)));
  });
  fc.assert(property, { numRuns: 200 });
});

test('a body that comes byte by byte is held in few chunks', () => {
  const held = new HeldChunks();
  for (let index = 0; index < 64 * 1024; index++) {
    const byte = owned(1, index);
    held.add(byte, byte);
    held.shift(64 * 1024);
  }
  let chunks = 0;
  while (held.shift() !== undefined) chunks += 1;
  assert.ok(chunks <= 16, `${chunks} chunks`);
});

test('a part of a chunk is kept without the rest', () => {
  const held = new HeldChunks();
  const chunk = owned(50_000, 0);
  held.add(chunk, chunk.subarray(10, 30_000));
  assert.is(chunk.length, 0);
  assert.ok(held.shift()?.equals(owned(29_990, 10)));
  assert.is(held.shift(), undefined);
});

test.run();
