import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withTables, wrapperPage } from './wrapper/page.ts';

const test = suite('docs/WRAPPER.md');

test('has the table of the code: node test/docs/wrapper/write-page.ts', () => {
  const page = readFileSync(wrapperPage, 'utf8');
  assert.is(page, withTables(page));
});

test.run();
