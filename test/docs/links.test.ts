import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anchorsIn, linksIn } from './links/markdown.ts';
import { isBroken, pages, pagesFrom, reachableFrom, textOf } from './links/pages.ts';

const test = suite('links between pages');

test('lead to pages and headings that there are', () => {
  const links = pages.flatMap((page) => linksIn(textOf(page)).map((link) => ({ page, link })));
  assert.ok(links.length > 150, String(links.length));
  assert.equal(
    links.filter(({ page, link }) => isBroken(page, link)),
    [],
  );
});

test('lead from the README to every page', () => {
  const reached = reachableFrom('README.md');
  assert.equal(
    pages.filter((page) => !reached.has(page)),
    [],
  );
});

test('lead from every page of docs/ to the list of pages that it is in, and from there to it', () => {
  const lost = pages.filter((page) => page.startsWith('docs/')).filter((page) => !isListed(page));
  assert.equal(lost, []);
});

/** The README of its folder; of one of those, that of the folder above. */
function isListed(page: string): boolean {
  const folder = page.endsWith('/README.md') ? dirname(dirname(page)) : dirname(page);
  const list = join(folder, 'README.md');
  return pagesFrom(page).includes(list) && pagesFrom(list).includes(page);
}

test('and would be found broken', () => {
  assert.ok(isBroken('README.md', 'docs/NONE.md'));
  assert.ok(isBroken('README.md', 'docs/OPERATOR.md#none'));
  assert.ok(isBroken('README.md', '../elsewhere'));
  assert.ok(isBroken('docs/TESTBED.md', '#none'));
  assert.not.ok(isBroken('docs/INSTALL.md', 'OPERATOR.md#when-it-does-not-work'));
});

test('are found in prose and tables, and not in code', () => {
  const page =
    '[a](b.md) `[c](d.md)` | [`e`](f.md#g) |\n```sh\n[h](i.md)\n```\n[j]: k.md\n[l](https://m.example)\n';
  assert.equal(linksIn(page), ['b.md', 'f.md#g', 'k.md']);
});

test('name headings as GitHub does', () => {
  const page = '# A `b`: c?\n```sh\n# no heading\n```\n## [Two](x.md) words\n## Again\n### Again\n';
  assert.equal(anchorsIn(page), ['a-b-c', 'two-words', 'again', 'again-1']);
});

test.run();
