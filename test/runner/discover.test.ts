import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../support/temporary.ts';
import { isIdle, select } from './discover.ts';

const test = suite('selection of test files');
const folder = temporaryFolder('discover');
const names = [
  'a.test.ts',
  'b.server.test.ts',
  'c.long.server.test.ts',
  'd.ts',
  'fixtures/e.test.ts',
  'f.test.ts',
];

test.before(() => {
  mkdirSync(join(folder.path, 'fixtures'));
  for (const name of names) writeFileSync(join(folder.path, name), '');
  writeFileSync(join(folder.path, names[0] as string), 'const a = 1;\nexport const idle = true;\n');
  writeFileSync(join(folder.path, 'f.test.ts'), 'export const slow = true;\n');
});
test.after(() => folder.remove());

const selected = (fragments: string[], quick = false) =>
  select(folder.path, fragments, quick).files.map((file) => basename(file));

test('leaves out what is no test, and what takes minutes', () => {
  assert.equal(selected([]), ['a.test.ts', 'b.server.test.ts', 'f.test.ts']);
});

test('leaves out what needs servers or many seconds where it is to be quick', () => {
  assert.equal(selected([], true), ['a.test.ts']);
});

test('takes what takes minutes where it is asked for', () => {
  assert.equal(selected(['.long.server']), ['c.long.server.test.ts']);
  const all = ['a.test.ts', 'b.server.test.ts', 'c.long.server.test.ts', 'f.test.ts'];
  assert.equal(selected([basename(folder.path)]), all);
});

test('knows what waits more than it works', () => {
  const said = names.slice(0, 3).map((name) => isIdle(join(folder.path, name)));
  assert.equal(said, [true, false, false]);
});

test.run();
