import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { copyFolder, ownFolder } from '../../../../src/plugins/wrapper/install-folder.ts';
import type { SvcError } from '../../../../src/runtime/errors.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const copying = suite("copies of the wrapper's folder");
const folder = temporaryFolder('copy');
const inside = (...names: string[]) => join(folder.path, ...names);
copying.after(() => folder.remove());

copying.before(() => {
  mkdirSync(inside('svc', 'bin'), { recursive: true });
  writeFileSync(inside('svc', 'bin', 'node'), 'program');
  writeFileSync(inside('svc', 'wrapper.cjs'), 'script');
  writeFileSync(
    inside('svc', 'MANIFEST.json'),
    JSON.stringify({ files: { 'bin/node': {}, 'wrapper.cjs': {} } }),
  );
  chmodSync(inside('svc', 'bin', 'node'), 0o755);
  chmodSync(inside('svc', 'wrapper.cjs'), 0o644);
});

function target(name: string): string {
  mkdirSync(inside(name));
  return inside(name);
}

copying('every file with its mode, whatever the umask, and a place for certificates', () => {
  const before = process.umask(0o077);
  const to = target('plain');
  assert.is(copyFolder(inside('svc'), to), 3);
  process.umask(before);
  assert.is(readFileSync(join(to, 'bin', 'node'), 'utf8'), 'program');
  const mode = (name: string) => (statSync(join(to, name)).mode & 0o777).toString(8);
  assert.equal(['bin', 'bin/node', 'wrapper.cjs', 'certs'].map(mode), ['755', '755', '644', '755']);
  assert.equal(readdirSync(to).sort(), ['MANIFEST.json', 'bin', 'certs', 'wrapper.cjs']);
});

copying('over what a copy that was cut off has left', () => {
  const to = target('cut-off');
  mkdirSync(join(to, 'bin'));
  writeFileSync(join(to, 'bin', 'node'), 'prog');
  writeFileSync(join(to, 'wrapper.cjs.part'), 'scr');
  copyFolder(inside('svc'), to);
  assert.is(readFileSync(join(to, 'bin', 'node'), 'utf8'), 'program');
  assert.not.ok(existsSync(join(to, 'wrapper.cjs.part')));
});

copying('says where it cannot', () => {
  const to = inside('svc', 'wrapper.cjs');
  try {
    copyFolder(inside('svc'), to);
    assert.unreachable();
  } catch (error) {
    const { code, exitStatus, message, cause } = error as SvcError;
    assert.equal([code, exitStatus, (cause as NodeJS.ErrnoException).code], ['COPY_FAILED', 71, 'ENOTDIR']);
    assert.match(message, to);
  }
});

copying('the folder is that of the program that runs, and has a manifest', () => {
  assert.is(ownFolder(inside('svc', 'bin', 'node')), inside('svc'));
  assert.throws(
    () => ownFolder('/usr/bin/node'),
    (error: SvcError) => error.code === 'NOT_SELF_CONTAINED' && error.exitStatus === 78,
  );
});

copying.run();
