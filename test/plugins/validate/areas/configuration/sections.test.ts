import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sections } from '../../../../../src/plugins/validate/areas/configuration.ts';
import { runCheck } from '../../../../../src/plugins/validate/run-check.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import { contextOf } from '../../test-context.ts';

const test = suite('sections of the configuration file');
const folder = temporaryFolder('sections');
test.after(() => folder.remove());

const components = async () => [
  { name: 'greeter', settings: {}, check: () => [] },
  { name: 'wrapper', settings: {} },
];

async function verdictOf(text: string) {
  const configFile = join(folder.path, 'svc.yaml');
  writeFileSync(configFile, text);
  return runCheck(sections, contextOf({ configFile, components }));
}

test('a file in which there is nothing to look at is not passed', async () => {
  for (const text of ['', 'wrapper:\n  a: b\n', 'plugin-of-others:\n  a: b\n'])
    assert.is((await verdictOf(text)).state, 'skipped', text);
});

test('a section whose name is mistyped is found', async () => {
  assert.match(JSON.stringify(await verdictOf('greter:\n  a: b\n')), /"failed".*did you mean greeter/);
});

test.run();
