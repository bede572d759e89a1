import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compareKeys, SortedMap } from '../../../../src/plugins/dev/store/catalog.ts';

const test = suite('sorted map');

/** Near the ends of what UTF-16 and UTF-8 order differently. */
const character = fc.constantFrom(
  'a',
  'b',
  '/',
  '\u00e9',
  '\ud7ff',
  '\ue000',
  '\uffee',
  '\u{10000}',
  '\u{1f600}',
);
const key = fc.array(character, { maxLength: 4 }).map((characters) => characters.join(''));

test('keys compare as their UTF-8 bytes', () => {
  fc.assert(
    fc.property(key, key, (left, right) => {
      const expected = Buffer.compare(Buffer.from(left), Buffer.from(right));
      assert.is(Math.sign(compareKeys(left, right)), expected);
    }),
  );
});

test('holds what a map holds, in order', () => {
  const change = fc.record({ key, remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), key, (changes, from) => {
      const sorted = new SortedMap<number>();
      const plain = new Map<string, number>();
      for (const [index, { key, remove }] of changes.entries()) {
        if (remove) sorted.delete(key);
        else sorted.set(key, index);
        if (remove) plain.delete(key);
        else plain.set(key, index);
      }
      const expected = [...plain].filter(([name]) => compareKeys(name, from) >= 0);
      assert.equal(
        [...sorted.from(from)],
        expected.sort(([left], [right]) => compareKeys(left, right)),
      );
      assert.is(sorted.size, plain.size);
    }),
  );
});

test.run();
