import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { proxySettings } from '../../src/plugins/proxy/settings.ts';
import { createRoutes } from '../../src/plugins/proxy/start-process.ts';

const test = suite('docs/PROXY.md');

const page = readFileSync(new URL('../../docs/PROXY.md', import.meta.url), 'utf8');

test('names every operation that is answered by more than passing it on', () => {
  const operations = Object.keys(createRoutes()).filter((name) => name !== 'PassThrough');
  assert.equal(
    operations.filter((name) => !new RegExp(`\\b${name}\\b`).test(page)),
    [],
  );
});

test('says defaults as they are', () => {
  for (const { flag, fallback } of [proxySettings.verifyBuffer, proxySettings.verifyBudget])
    assert.ok(page.includes(`\`--${flag}\` (${fallback.replace('MiB', ' MiB')})`), flag);
  assert.ok(page.includes(`http://${proxySettings.listen.fallback}`));
});

test.run();
