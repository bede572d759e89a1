import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checksPage, renderChecks } from '../../scripts/docs/checks/page.ts';
import { checks } from '../../src/plugins/validate/registry.ts';

const test = suite('docs/CHECKS.md');

const page = readFileSync(checksPage, 'utf8');

test('is that of the checks: npm run docs', () => {
  assert.is(page, renderChecks());
});

test('has an anchor a check, as reports name it', () => {
  const anchors = [...page.matchAll(/^### (.+)$/gm)].map(([, title = '']) => title.toLowerCase());
  assert.equal([...anchors].sort(), checks.map(({ id }) => id.toLowerCase()).sort());
});

test.run();
