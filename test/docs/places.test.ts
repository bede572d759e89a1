import { readdirSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { textOf } from './links/pages.ts';
import { fragmentsIn, isTestPath, isThere, placesIn } from './places/named-places.ts';

const test = suite('files and folders that pages name');

/** Those that lead readers to the code. */
const pages = ['ARCHITECTURE', 'FIRST-CHANGE', 'GLOSSARY', 'LIFECYCLE'].map((name) => `docs/${name}.md`);

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

test('of src/ are in ARCHITECTURE, each room with its folders', () => {
  const source = new URL('../../src/', import.meta.url);
  const foldersIn = (folder: URL) =>
    readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const text = textOf('docs/ARCHITECTURE.md');
  const rooms = foldersIn(source).flatMap(({ name: room }) =>
    ['commands', 'sdk'].includes(room)
      ? []
      : [`src/${room}`, ...foldersIn(new URL(`${room}/`, source)).map(({ name }) => `${name}/`)],
  );
  assert.ok(rooms.length > 30);
  assert.equal(
    rooms.filter((name) => !text.includes(`\`${name}\``)),
    [],
  );
});

test('of tests that pages run are there', () => {
  const fragments = ['docs/FIRST-CHANGE.md', 'CONTRIBUTING.md'].flatMap((page) => fragmentsIn(textOf(page)));
  assert.ok(fragments.length > 20, String(fragments.length));
  assert.equal(
    fragments.filter((fragment) => !isTestPath(fragment)),
    [],
  );
  assert.equal(fragmentsIn('`npm test -- a/b c`, `npm test`'), ['a/b', 'c']);
});

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
