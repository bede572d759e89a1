import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../../src/runtime/errors.ts';
import { cannotExecute, findProgram } from '../../../src/runtime/native/spawn.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';

let folder: TemporaryFolder;
let path = '';

const programs = suite('finding a program');

programs.before(() => {
  folder = temporaryFolder('program');
  const place = (name: string, mode: number) => {
    mkdirSync(join(folder.path, name, '..'), { recursive: true });
    writeFileSync(join(folder.path, name), '', { mode });
  };
  place('first/plain', 0o644);
  place('first/only-plain', 0o644);
  place('second/plain', 0o755);
  place('second/tool', 0o755);
  mkdirSync(join(folder.path, 'first/tool'));
  path = `${join(folder.path, 'none')}:${join(folder.path, 'first')}:${join(folder.path, 'second')}`;
});
programs.after(() => folder.remove());

function statusOf(file: string, where?: string): number {
  try {
    findProgram(file, where);
    return 0;
  } catch (error) {
    if (error instanceof SvcError) return error.exitStatus;
    throw error;
  }
}

programs('takes the first that can be executed, past folders and plain files of that name', () => {
  assert.is(findProgram('plain', path), join(folder.path, 'second/plain'));
  assert.is(findProgram('tool', path), join(folder.path, 'second/tool'));
});

programs('a name with a slash is not looked for', () => {
  const near = relative(process.cwd(), join(folder.path, 'second/tool'));
  assert.is(findProgram(near, ''), near);
  assert.is(statusOf('second/tool', folder.path), 127);
});

programs('not there: 127; there without permission: 126', () => {
  assert.is(statusOf('missing', path), 127);
  assert.is(statusOf('only-plain', path), 126);
  assert.is(statusOf('', path), 127);
  assert.is(statusOf('x'.repeat(5000), path), 127);
});

programs('a failed start says what to fix', () => {
  const next = (errnoName: string) => {
    const { exitStatus, nextStep } = cannotExecute('tool', Object.assign(new Error('no'), { errnoName }));
    return [
      exitStatus,
      /chmod/.test(nextStep),
      /fewer or shorter/.test(nextStep),
      /more (memory|processes)/.test(nextStep),
    ];
  };
  assert.equal(next('ENOEXEC'), [126, true, false, false]);
  assert.equal(next('EACCES'), [126, true, false, false]);
  assert.equal(next('E2BIG'), [126, false, true, false]);
  assert.equal(next('ENOENT'), [127, false, false, false]);
  assert.equal(next('ENOMEM'), [126, false, false, true]);
  assert.equal(next('EAGAIN'), [126, false, false, true]);
});

programs('an empty part of PATH is the working directory', () => {
  const before = process.cwd();
  process.chdir(join(folder.path, 'second'));
  try {
    assert.is(findProgram('tool', ':/nowhere'), 'tool');
    assert.is(findProgram('tool', '/nowhere:'), 'tool');
  } finally {
    process.chdir(before);
  }
});

programs.run();
