import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { storedSize } from '../../../src/objects/format/cipher.ts';
import {
  contentRange,
  coveringParts,
  parseRange,
  resolveRange,
  unsatisfiedRange,
} from '../../../src/objects/s3/range.ts';

const test = suite('ranges');
const resolve = (header: string, size: number) => {
  const range = parseRange(header);
  return range && resolveRange(range, size);
};

test('the forms of a single range', () => {
  assert.equal(resolve('bytes=0-9', 100), { start: 0, end: 9 });
  assert.equal(resolve('bytes=90-', 100), { start: 90, end: 99 });
  assert.equal(resolve('bytes=-10', 100), { start: 90, end: 99 });
  assert.equal(resolve('bytes=-1000', 100), { start: 0, end: 99 });
  assert.equal(resolve('bytes=99-1000', 100), { start: 99, end: 99 });
  assert.equal(resolve('bytes=1-9223372036854775807', 100), { start: 1, end: 99 });
  assert.equal(resolve(`bytes=-${'0'.repeat(30)}7`, 100), { start: 93, end: 99 });
});

for (const header of [
  'bytes=5-4',
  'bytes=-',
  'bytes=',
  'bytes=0-1,3-4',
  'bytes=a-b',
  'items=0-1',
  'bytes=1',
  '0-1',
  'bytes=0x0-1',
  'bytes=--1',
  'bytes= -1',
  'bytes=0 -1',
  'Bytes=0-1',
  'bytes=0-9223372036854775808',
  `bytes=0-${'9'.repeat(19)}`,
]) {
  test(`${header} is passed over`, () => assert.is(parseRange(header), undefined));
}

test('no header, no range', () => assert.is(parseRange(undefined), undefined));

test('what begins at or after the end, and the last 0 bytes, cannot be satisfied', () => {
  assert.is(resolveRange({ from: 100 }, 100), undefined);
  assert.is(resolveRange({ from: 0 }, 0), undefined);
  assert.is(resolveRange({ suffix: 5 }, 0), 'whole');
  assert.is(resolveRange({ suffix: 0 }, 5), undefined);
  assert.is(unsatisfiedRange(100), 'bytes */100');
});

test('Content-Range has plaintext offsets', () => {
  assert.is(contentRange({ start: 1, end: 2 }, 10), 'bytes 1-2/10');
});

const sized = (sizes: readonly number[]) => sizes.map((size) => ({ size }));

test('a range within one part takes that part only', () => {
  const slices = coveringParts(sized([10, 20, 30]), { start: 12, end: 15 });
  assert.equal([...slices], [{ index: 1, skip: 2, take: 4, cipherStart: 38, cipherEnd: 85 }]);
});

test('slices make up exactly the range, out of the parts that they name', () => {
  const sizes = fc
    .array(fc.nat(50), { minLength: 1, maxLength: 8 })
    .filter((list) => list.some((size) => size > 0));
  fc.assert(
    fc.property(sizes, fc.nat(), fc.nat(), (list, a, b) => {
      const total = list.reduce((sum, size) => sum + size, 0);
      const [start = 0, end = 0] = [a % total, b % total].sort((x, y) => x - y);
      const offsets = list.map((_size, index) => list.slice(0, index).reduce((sum, size) => sum + size, 0));
      const stored = list.map((_size, index) =>
        list.slice(0, index).reduce((sum, size) => sum + storedSize(size), 0),
      );
      const covered: number[] = [];
      let follows: number | undefined;
      for (const { index, skip, take, cipherStart, cipherEnd } of coveringParts(sized(list), {
        start,
        end,
      })) {
        const first = (offsets[index] ?? 0) + skip;
        for (let byte = first; byte < first + take; byte++) covered.push(byte);
        assert.ok((take > 0 || list[index] === 0) && skip + take <= (list[index] ?? 0));
        if (follows !== undefined) assert.is(index, follows);
        follows = index + 1;
        assert.is(cipherStart, stored[index]);
        assert.is(cipherEnd, cipherStart + storedSize(list[index] ?? 0) - 1);
      }
      assert.equal(
        covered,
        Array.from({ length: end - start + 1 }, (_unused, byte) => start + byte),
      );
    }),
  );
});

test.run();
