import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { textOf } from './links/pages.ts';
import { isThere, placesIn } from './places/named-places.ts';

const test = suite('files and folders that pages name');

/** Those that lead readers to the code. */
const pages = ['docs/ARCHITECTURE.md', 'docs/GLOSSARY.md', 'docs/LIFECYCLE.md'];

for (const page of pages) {
  test(`of ${page} are there`, () => {
    const places = placesIn(textOf(page));
    assert.ok(places.length > 20, String(places.length));
    assert.equal(
      places.filter((place) => !isThere(place)),
      [],
    );
  });
}

test('are found in code, and one that is gone is noticed', () => {
  const page =
    'src/gone.ts `src/a` `b.ts`, [c](d.ts)\n```\n── e/f.h ─► bpf/*.bpf.c\n```\n`*.g.ts` `/h/i.ts`\n';
  assert.equal(placesIn(page), ['src/a', 'b.ts', 'bpf/*.bpf.c', 'e/f.h']);
  assert.ok(isThere('src/objects/'));
  assert.ok(isThere('bpf/*.bpf.c'));
  assert.ok(isThere('write/put-object.ts'));
  assert.not.ok(isThere('src/object'));
  assert.not.ok(isThere('src/put-object.ts'));
  assert.not.ok(isThere('bpf/*.none.c'));
});

test.run();
