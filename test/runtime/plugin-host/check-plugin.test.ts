import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SvcError } from '../../../src/runtime/errors.ts';
import { apiLevel, checkPlugin } from '../../../src/runtime/plugin-host.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const test = suite('the API that a plugin was made for');
const folder = temporaryFolder('plugin');
test.after(() => folder.remove());

/** A package whose modules have a package.json of their own, which says of what kind they are. */
function packageOfBothKinds(name: string, api: number): string {
  const modules = join(folder.path, name, 'esm');
  mkdirSync(modules, { recursive: true });
  const described = { name, version: '1.0.0', svc: { api } };
  writeFileSync(join(folder.path, name, 'package.json'), JSON.stringify(described));
  writeFileSync(join(modules, 'package.json'), JSON.stringify({ type: 'module' }));
  return join(modules, 'package.json');
}

test('is told by the package, not by a folder of it', () => {
  checkPlugin(packageOfBothKinds('fits', apiLevel));
  assert.throws(
    () => checkPlugin(packageOfBothKinds('later', apiLevel + 1)),
    (error: SvcError) => error.code === 'PLUGIN_INCOMPATIBLE' && error.message.includes('later 1.0.0'),
  );
});

test('has to be told', () => {
  const file = join(folder.path, 'package.json');
  writeFileSync(file, JSON.stringify({ name: 'odd' }));
  assert.throws(
    () => checkPlugin(file),
    (error: SvcError) => error.code === 'PLUGIN_INCOMPATIBLE' && error.exitStatus === 78,
  );
});

test.run();
