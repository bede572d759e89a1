import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { requireNode, runsUnder } from '../../bin/require-node.js';
import { FOR_BUNDLE } from '../../scripts/lib/node-binary.mjs';
import { runCommand } from '../support/run-command.ts';

const test = suite('the oldest Node');
const module = new URL('../../bin/require-node.js', import.meta.url).href;

const versions: Readonly<Record<string, boolean>> = {
  '20.19.2': false,
  '22.0.0': false,
  '22.2.0': false,
  '22.14.0': false,
  '22.15.0': true,
  '22.100.1': true,
  '23.11.1': false,
  '24.0.0': true,
  '26.1.0': true,
};

test('is of minor versions, too, as it has all that is called', () => {
  for (const [version, runs] of Object.entries(versions)) assert.is(runsUnder(version), runs, version);
});

test('is the same for npm and for the scripts', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  assert.is(engines.node, '^22.15.0 || >=24');
  assert.equal(FOR_BUNDLE, [22, 15]);
});

test('is asked for before anything is loaded, and named with what runs instead', async () => {
  const program = `const versions = { ...process.versions, node: '22.14.0' };
    Object.defineProperties(process, { version: { value: 'v22.14.0' }, versions: { value: versions } });
    (await import('${module}')).requireNode('svc');`;
  const { status, stderr } = await runCommand(process.execPath, ['--input-type=module', '-e', program], '.');
  assert.is(status, 78);
  assert.match(stderr, /^Error: svc needs Node 22\.15 or later .*v22\.14\.0\. \(NODE_TOO_OLD\)\nNext: /);
  requireNode('svc');
});

test.run();
