import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { attackPathsPage } from '../../../../scripts/docs/attack-paths-page.ts';
import { accessPathRows, wrapperRows } from './access-paths.ts';

const test = suite('docs/ATTACK-PATHS.md');

test('is what the table says: npm run docs', () => {
  assert.is(
    readFileSync(new URL('../../../../docs/ATTACK-PATHS.md', import.meta.url), 'utf8'),
    attackPathsPage(),
  );
});

test('names each attack path once, and says why where it is not covered', () => {
  const names = [...accessPathRows, ...wrapperRows].map(({ path }) => path);
  assert.is(new Set(names).size, names.length);
  for (const { path, hooked, traced, byCgroup, note } of accessPathRows) {
    if ([hooked, traced, byCgroup].includes('open')) assert.ok(note, path);
  }
});

/** Files of a container are files of the node: nobody claims to keep root out of them. */
const code = ['exec-proc-root', 'exec-node-disk', 'exec-moved-mount'];

test('claims that every attack path but code is denied, or its victim refused, where calls can be denied', () => {
  for (const { path, hooked = 'denied' } of accessPathRows.filter(({ path }) => !code.includes(path)))
    assert.ok(['denied', 'refused'].includes(hooked), path);
});

test('claims for code in the place of a program of the container that no tier keeps it out', () => {
  for (const row of accessPathRows.filter(({ path }) => code.includes(path)))
    assert.equal([row.hooked, row.traced, row.report], ['open', 'open', undefined], row.path);
});

test.run();
