import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { attackPathsPage } from '../../../../scripts/docs/attack-paths-page.ts';
import { roadRows, wrapperRows } from './roads.ts';

const test = suite('docs/ATTACK-PATHS.md');

test('is what the table says: npm run docs', () => {
  assert.is(
    readFileSync(new URL('../../../../docs/ATTACK-PATHS.md', import.meta.url), 'utf8'),
    attackPathsPage(),
  );
});

test('names each attack path once, and says why where it is not covered', () => {
  const names = [...roadRows, ...wrapperRows].map(({ road }) => road);
  assert.is(new Set(names).size, names.length);
  for (const { road, hooked, traced, byCgroup, note } of roadRows) {
    if ([hooked, traced, byCgroup].includes('open')) assert.ok(note, road);
  }
});

test('claims that every attack path is denied, or its victim refused, where calls can be denied', () => {
  for (const { road, hooked = 'denied' } of roadRows) assert.ok(['denied', 'refused'].includes(hooked), road);
});

test.run();
