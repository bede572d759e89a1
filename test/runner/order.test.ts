import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readOptions } from './options.ts';
import { runTests } from './run.ts';
import { NOTHING_TO_BUILD } from './testbed.ts';

const test = suite('order of suites');
const FIXTURES = fileURLToPath(new URL('./fixtures', import.meta.url));

test('those that need Kubernetes come last, and wait for it', async () => {
  const fragments = ['fixtures/first.kubernetes', 'fixtures/passes'];
  const options = readOptions(['--jobs', '1', ...fragments], {}, FIXTURES);
  const built = Promise.withResolvers<void>();
  const printed: string[] = [];
  const print = (text: string) => {
    printed.push(text.trim());
    if (text.includes('passes.test.ts')) {
      printed.push('built');
      built.resolve();
    }
  };
  assert.is(await runTests(options, print, { ...NOTHING_TO_BUILD, kubernetes: built.promise }), 0);
  const seen = printed.map((line) => /passes|built|first|\d passed/.exec(line)?.[0]);
  assert.equal(seen, ['passes', 'built', 'first', '3 passed']);
});

test.run();
