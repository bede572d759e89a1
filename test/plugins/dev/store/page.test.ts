import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compareKeys, SortedMap } from '../../../../src/plugins/dev/store/catalog.ts';
import {
  firstOf,
  type Page,
  type PageRequest,
  takePage,
} from '../../../../src/plugins/dev/store/listings.ts';

const test = suite('pages of a listing');

const part = fc.constantFrom('a', 'b', 'ab', '/', '//');
const key = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''));
const listing = fc.record({
  keys: fc.uniqueArray(key, { maxLength: 20 }),
  prefix: fc.constantFrom('', 'a', 'a/', '/'),
  delimiter: fc.constantFrom('', '/', 'b'),
  max: fc.integer({ min: 1, max: 5 }),
});

const take = (keys: readonly string[], request: PageRequest): Page<string> => {
  const map = new SortedMap<string>();
  for (const name of keys) map.set(name, name);
  return takePage(map.from(firstOf(request)), request);
};

/** What a listing shows, from its definition. */
function shown(keys: readonly string[], prefix: string, delimiter: string): string[] {
  const names = keys
    .filter((name) => name.startsWith(prefix))
    .map((name) => {
      const at = delimiter === '' ? -1 : name.indexOf(delimiter, prefix.length);
      return at < 0 ? name : name.slice(0, at + delimiter.length);
    });
  return [...new Set(names)].sort(compareKeys);
}

test('pages of any size show everything once, in order', () => {
  fc.assert(
    fc.property(listing, ({ keys, prefix, delimiter, max }) => {
      const seen: string[] = [];
      let after: string | undefined = '';
      while (after !== undefined) {
        const page: Page<string> = take(keys, { prefix, delimiter, after, max });
        const names = [...page.items, ...page.prefixes].sort(compareKeys);
        assert.ok(names.length <= max);
        if (page.next !== undefined) assert.is(names.at(-1), page.next);
        seen.push(...names);
        after = page.next;
      }
      assert.equal(seen, shown(keys, prefix, delimiter));
    }),
  );
});

test('nothing is asked for, nothing is shown', () => {
  const page = take(['a', 'b'], { prefix: '', delimiter: '', after: '', max: 0 });
  assert.equal(page, { items: [], prefixes: [], next: undefined });
});

test.run();
