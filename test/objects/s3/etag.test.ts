import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inward, inwardConditions, inwardList, outward, unquote } from '../../../src/objects/s3/headers.ts';

const test = suite('ETags');
const hex = 'd41d8cd98f00b204e9800998ecf8427e';

test('32 hexadecimal digits get the suffix, quoted or not', () => {
  assert.is(outward(`"${hex}"`), `"${hex}-svc"`);
  assert.is(outward(hex), `${hex}-svc`);
  assert.is(outward(hex.toUpperCase()), `${hex.toUpperCase()}-svc`);
});

for (const other of [
  `"${hex}-3"`,
  `"${hex}0"`,
  '"abc"',
  '',
  '"',
  `"${hex}`,
  `${hex}"`,
  `W/"${hex}"`,
  `"${hex}-svc"`,
]) {
  test(`${JSON.stringify(other)} stays as it is`, () => assert.is(outward(other), other));
}

test('inward undoes outward, and leaves the rest', () => {
  const digits = fc.stringMatching(/^[0-9a-fA-F]{32}$/);
  fc.assert(
    fc.property(
      fc.oneof(
        digits,
        digits.map((text) => `"${text}"`),
        fc.string(),
      ),
      (etag) => {
        if (!etag.includes('-svc')) assert.is(inward(outward(etag)), etag);
      },
    ),
  );
  assert.is(inward(`"${hex}-3-svc"`), `"${hex}-3-svc"`);
  assert.is(inward(hex), hex);
});

test('lists, weak ETags and the star are mapped', () => {
  assert.is(inwardList('*'), '*');
  assert.is(inwardList(`"${hex}-svc"`), `"${hex}"`);
  assert.is(
    inwardList(`"${hex}-svc", W/"${hex}-svc","${hex}-2",${hex}-svc`),
    `"${hex}", W/"${hex}","${hex}-2",${hex}`,
  );
  assert.is(inwardList(`"x${hex}-svc"`), `"x${hex}-svc"`);
  assert.is(inwardList(`"${hex}-svc2"`), `"${hex}-svc2"`);
});

test('unquote takes off one pair', () => {
  assert.equal(['"a"', 'a', '"', '""a""', '"a'].map(unquote), ['a', 'a', '"', '"a"', '"a']);
});

test('conditions go to the store with its ETags', () => {
  const date = 'Fri, 02 Jan 2026 03:04:05 GMT';
  const headers = {
    'if-match': `"${hex}-svc"`,
    'if-none-match': '*',
    'if-modified-since': date,
    'x-amz-copy-source-if-match': `${hex}-svc`,
    'x-amz-copy-source-if-unmodified-since': date,
    'content-type': 'text/plain',
  };
  assert.equal(inwardConditions(headers), {
    'if-match': `"${hex}"`,
    'if-none-match': '*',
    'if-modified-since': date,
    'x-amz-copy-source-if-match': hex,
    'x-amz-copy-source-if-unmodified-since': date,
  });
});

test.run();
