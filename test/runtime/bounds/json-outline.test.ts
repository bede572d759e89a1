import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { items, members, type Outline, readOutline } from '../../../src/runtime/bounds/json-outline.ts';

const test = suite('outlines of JSON texts');

const read = (text: string, outline: Outline): unknown => readOutline(Buffer.from(text), outline);
const outline = members({
  a: 40,
  b: members({ c: 40, d: items(2, members({ a: 40 })) }),
  e: items(3, 5),
});

/** The same of what JSON.parse makes of the text. */
function expected(value: unknown, of: Outline): unknown {
  if (typeof of === 'number') {
    if (Buffer.byteLength(JSON.stringify(value)) <= of) return value;
    if (Array.isArray(value)) return [];
    return typeof value === 'object' ? {} : undefined;
  }
  if (of.kind === 'items')
    return Array.isArray(value) ? value.slice(0, of.max).map((item) => expected(item, of.of)) : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const known = Object.entries(value).filter(([name]) => of.of.has(name));
  return Object.fromEntries(known.map(([name, each]) => [name, expected(each, of.of.get(name) as Outline)]));
}

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, 1.5, '', 'text', 'a text of more than forty characters, as it seems'),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'other'), tie('value'), { noNullPrototype: true }),
  ),
}));

test('have what the outline names, whatever else there is', () => {
  fc.assert(
    fc.property(value, (document) => {
      const text = JSON.stringify(document);
      assert.equal(read(text, outline), expected(JSON.parse(text), outline));
    }),
  );
});

test('take the last value of a name that repeats, as JSON.parse does', () => {
  assert.equal(read('{"a":1,"a":2}', outline), { a: 2 });
});

test('do not know a name with escapes', () => {
  assert.equal(read('{"\\u0061":1}', outline), {});
});

for (const text of [
  '',
  '{"a":1',
  '{"x":[1,]}',
  '{"x":"\\x"}',
  '{} {}',
  `${'['.repeat(200)}${']'.repeat(200)}`,
])
  test(`refuse ${text.slice(0, 20) || 'nothing'}, which is no JSON within the bounds`, () => {
    assert.throws(() => read(text, outline), /not JSON/);
  });

test('cost nothing for members that are not named', () => {
  const many = Array.from({ length: 200_000 }, (_, index) => `"n${index}":""`).join();
  assert.equal(read(`{"x":{${many}},"b":{${many},"c":1},"a":{${many}}}`, outline), { a: {}, b: { c: 1 } });
});

test.run();
