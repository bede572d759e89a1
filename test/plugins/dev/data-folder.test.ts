import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { takeDataFolder } from '../../../src/plugins/dev/servers.ts';
import { SvcError } from '../../../src/runtime/errors.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const test = suite('data folder of svc dev');

function refusal(path: string): SvcError {
  try {
    takeDataFolder(path);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  return assert.unreachable('should have been refused') as never;
}

test('is made for its owner only, and serves one at a time', async () => {
  const folder = temporaryFolder('dev-data');
  const path = join(folder.path, 'a', 'b');
  const taken = takeDataFolder(path);
  assert.is(statSync(path).mode & 0o777, 0o700);
  writeFileSync(join(path, 'svc-dev.pid'), `${process.ppid}\n`);
  const error = refusal(path);
  assert.is(error.code, 'DEV_DATA');
  assert.match(error.message, new RegExp(`in use by process ${process.ppid}$`));
  taken.release();
  takeDataFolder(path).release();
  assert.is(existsSync(join(path, 'svc-dev.pid')), false);
  await folder.remove();
});

test('a process that is gone does not hold it', async () => {
  const folder = temporaryFolder('dev-data');
  for (const left of ['999999999', '0', '-1', 'nonsense', '']) {
    writeFileSync(join(folder.path, 'svc-dev.pid'), left);
    takeDataFolder(folder.path).release();
  }
  await folder.remove();
});

test('says what is wrong with one that cannot be used', async () => {
  const folder = temporaryFolder('dev-data');
  const file = join(folder.path, 'file');
  writeFileSync(file, '');
  assert.match(refusal(file).message, /cannot be used/);
  assert.match(refusal('').message, /no name/);
  await folder.remove();
});

test.run();
