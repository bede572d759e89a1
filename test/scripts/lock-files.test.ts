import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withoutIntegrity } from '../../scripts/lib/lock-files.mjs';
import { withTree } from './temporary-tree.ts';

const test = suite('hashes of lock files');
const lock = (packages: Record<string, object>) => JSON.stringify({ lockfileVersion: 3, packages });
const hashed = { version: '1.0.0', integrity: 'sha512-x' };
const bundled = { version: '1.0.0', inBundle: true };
const complaints = (packages: Record<string, object>, file = 'package-lock.json') =>
  withTree({ [file]: lock(packages) }, withoutIntegrity);

test('each package has one, or is in the bundle of one that has', async () => {
  const packages = { '': { name: 'svc' }, 'node_modules/a': hashed, 'node_modules/here': { link: true } };
  assert.equal(await complaints(packages), []);
  const inBundle = { 'node_modules/a/node_modules/@b/c': bundled };
  const deeper = { 'node_modules/a/node_modules/@b/c/node_modules/d': bundled };
  assert.equal(await complaints({ ...packages, ...inBundle, ...deeper }), []);
});

test('one without is named, in whichever lock file', async () => {
  const packages = { 'node_modules/a': hashed, 'node_modules/@b/c': { version: '2.0.0', optional: true } };
  for (const file of ['package-lock.json', 'scripts/folder/package-lock.json']) {
    const found = await complaints(packages, file);
    assert.is(found.length, 1);
    assert.match(found[0] ?? '', `${file}: node_modules/@b/c has no integrity`);
    assert.match(found[0] ?? '', 'npm view @b/c@2.0.0 dist.integrity');
  }
});

test('a bundle without a hash vouches for nothing', async () => {
  const { version } = hashed;
  const found = await complaints({ 'node_modules/a': { version }, 'node_modules/a/node_modules/b': bundled });
  assert.is(found.length, 2);
  assert.is((await complaints({ 'node_modules/b': bundled })).length, 1);
});

test('those of installed packages are not looked at', async () => {
  assert.equal(
    await complaints({ 'node_modules/a': { version: '1' } }, 'node_modules/b/package-lock.json'),
    [],
  );
});

test.run();
