import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { componentsOf, componentTable } from '../../../src/runtime/cli/components.ts';

const components = suite('components');

const COMMANDS = [
  { id: 'run' },
  { id: 'run:proxy', summary: 'Encrypts.', pluginType: 'core', pluginName: 'svc' },
  { id: 'run:echo', description: 'Echoes.\nAt length.', pluginType: 'user', pluginName: 'svc-plugin-echo' },
  { id: 'run:secret', summary: 'Hidden.', hidden: true },
  { id: 'proxy:gc', summary: 'Collects.' },
];

components('are the commands below run, whoever brings them', () => {
  assert.equal(componentsOf(COMMANDS), [
    { name: 'echo', summary: 'Echoes.', plugin: 'svc-plugin-echo' },
    { name: 'proxy', summary: 'Encrypts.' },
  ]);
});

components('are listed with what they do and where they come from', () => {
  assert.equal(componentTable(componentsOf(COMMANDS), 'svc').split('\n').slice(0, 3), [
    'Components:',
    '  echo   Echoes. (from svc-plugin-echo)',
    '  proxy  Encrypts.',
  ]);
  assert.is(componentTable([], 'svc'), 'No component is installed.');
});

components.run();
