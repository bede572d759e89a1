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

test('claims that every attack path is denied, or its victim refused, where calls can be denied', () => {
  for (const { path, hooked = 'denied' } of accessPathRows)
    assert.ok(['denied', 'refused'].includes(hooked), path);
});

test.run();
