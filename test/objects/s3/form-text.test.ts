import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeForm } from '../../../src/objects/s3/form-text.ts';

const test = suite('keys in the encoding of listings');

/** Slower, and it makes a string of each blank. */
function expected(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

const piece = fc.constantFrom(
  ...[
    '+',
    '%',
    '%2',
    '%20',
    '%zz',
    '%2B',
    '%C3%A4',
    '%C3',
    '%F0%9F%98%80',
    '%ED%A0%80',
    '%00',
    'ä',
    '😀',
    'a/b',
  ],
);

test('it is decoded as decodeURIComponent does', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = pieces.join('');
      assert.is(decodeForm(text), expected(text), text);
    }),
    { numRuns: 3_000 },
  );
  const key = fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed());
  fc.assert(fc.property(key, (text) => assert.is(decodeForm(encodeURIComponent(text)), text)));
});

test.run();
