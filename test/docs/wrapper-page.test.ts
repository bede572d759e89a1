import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withTables, wrapperPage } from '../../scripts/docs/wrapper/page.ts';

const test = suite('docs/WRAPPER.md');

test('has the table of the code: npm run docs', () => {
  const page = readFileSync(wrapperPage, 'utf8');
  assert.is(page, withTables(page));
});

test.run();
