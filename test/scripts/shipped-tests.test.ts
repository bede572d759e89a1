import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startedFromSource } from '../../scripts/lib/shipped-tests.mjs';
import { withTree } from './temporary-tree.ts';

const test = suite('tests of what is shipped');
const complaints = (files: Record<string, string>) => withTree(files, (root) => startedFromSource(root));

for (const [name, line] of Object.entries({
  'a command': "import Netpol from '../src/commands/netpol.ts';",
  'a nested command': "import Gc from '../src/commands/proxy/gc.ts';",
  'a component': "import { proxy } from '../src/plugins/proxy/index.ts';",
  'a start': "const { start } = await import('../src/plugins/operator/start.ts');",
  'a component beside a part of it':
    "import {\n  runChecks,\n  validate,\n} from '../src/plugins/validate/index.ts';",
  'a component, loaded': "const { proxy } = await import('../src/plugins/proxy/index.ts');",
  'what runs components': "import {\n  runComponent,\n} from '../src/runtime/component/run-component.ts';",
  'the entry': "export * from '../src/main.ts';",
})) {
  test(`may not import ${name} from source`, async () => {
    assert.is((await complaints({ 'test/a.server.test.ts': line })).length, 1);
    assert.is((await complaints({ 'test/helper.ts': line })).length, 1);
    assert.is((await complaints({ 'bench/a.ts': line })).length, 1);
  });
}

test('may import their types, and parts of a component for unit tests', async () => {
  const file = [
    "import type { Component } from '../src/plugins/proxy/index.ts';",
    "import type {\n  Component,\n} from '../src/plugins/proxy/start.ts';",
    "import { wholeLines } from '../src/plugins/proxy/list/index-page.ts';",
    "import { yamlDocuments } from '../src/plugins/netpol/index.ts';",
  ].join('\n');
  assert.equal(await complaints({ 'test/a.test.ts': file }), []);
});

test('an excuse that is not needed any more is told of', async () => {
  const found = await complaints({ 'test/runtime/component/programs/program.ts': '' });
  assert.match(found.join(), /program\.ts starts nothing from src any more/);
});

test.run();
