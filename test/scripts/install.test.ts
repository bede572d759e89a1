import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isInstalled } from '../../scripts/lib/install.mjs';
import { withTree } from './temporary-tree.ts';

const install = suite('isInstalled');

const LOCK = {
  '': { version: '1.0.0' },
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/other-machine': { version: '2.0.0', integrity: 'sha512-o', optional: true },
};

function tree(present?: object): Record<string, string> {
  const files = { 'package-lock.json': JSON.stringify({ packages: LOCK }) };
  if (!present) return files;
  return { ...files, 'node_modules/.package-lock.json': JSON.stringify({ packages: present }) };
}

const installed = (present?: object) => withTree(tree(present), isInstalled);

install('is true when every package is there but an optional one', async () => {
  assert.is(await installed({ 'node_modules/a': LOCK['node_modules/a'] }), true);
});

install('is false without node_modules', async () => {
  assert.is(await installed(), false);
});

install('is false when a package is missing, of another version or of other content', async () => {
  assert.is(await installed({}), false);
  assert.is(await installed({ 'node_modules/a': { version: '1.0.1', integrity: 'sha512-a' } }), false);
  assert.is(await installed({ 'node_modules/a': { version: '1.0.0', integrity: 'sha512-b' } }), false);
});

install('is false when an optional package is there in another version', async () => {
  const old = {
    'node_modules/a': LOCK['node_modules/a'],
    'node_modules/other-machine': { version: '1.0.0' },
  };
  assert.is(await installed(old), false);
});

install.run();
