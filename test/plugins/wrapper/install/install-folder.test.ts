import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { installFolder } from '../../../../src/plugins/wrapper/install-folder.ts';
import type { SvcError } from '../../../../src/runtime/errors.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const installing = suite("the wrapper's folder as a node keeps it");
const folder = temporaryFolder('install');
installing.after(() => folder.remove());
let count = 0;

function emptyFolder(): string {
  count += 1;
  const path = join(folder.path, String(count));
  mkdirSync(path);
  return path;
}

/** A self-contained folder of a version. */
function bundle(version: string): string {
  const path = emptyFolder();
  const files = {
    'bin/node': `program ${version}`,
    'wrapper.cjs': `script ${version}`,
    'lib/c.so': 'library',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text, { mode: name === 'bin/node' ? 0o755 : 0o644 });
  }
  const facts = Object.entries(files).map(([name, text]) => [
    name,
    { bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') },
  ]);
  writeFileSync(join(path, 'MANIFEST.json'), JSON.stringify({ version, files: Object.fromEntries(facts) }));
  return path;
}

const current = (to: string, name: string) => readFileSync(join(to, 'current', name), 'utf8');
const versions = (to: string) => readdirSync(to).filter((name) => name !== 'current');

installing('is led to by a link, whole and for all to read', () => {
  const to = emptyFolder();
  const { version, files, removed } = installFolder(bundle('1'), to);
  assert.equal([files, removed], [4, 0]);
  assert.equal(readdirSync(to).sort(), [version, 'current'].sort());
  assert.is(readlinkSync(join(to, 'current')), version, 'relative: the node knows it by another path');
  assert.is(current(to, 'bin/node'), 'program 1');
  assert.is((statSync(join(to, 'current', 'bin/node')).mode & 0o777).toString(8), '755');
  assert.is((statSync(join(to, version)).mode & 0o777).toString(8), '755');
  assert.ok(statSync(join(to, 'current', 'certs')).isDirectory());
});

installing('is not written to again while it is what it should be', () => {
  const [to, from] = [emptyFolder(), bundle('1')];
  installFolder(from, to);
  const before = statSync(join(to, 'current', 'bin/node')).ino;
  assert.is(installFolder(from, to).files, 1, 'the manifest, which says that all is there');
  assert.is(statSync(join(to, 'current', 'bin/node')).ino, before);
});

installing('is fixed where a file was changed or is gone', () => {
  const [to, from] = [emptyFolder(), bundle('1')];
  const { version } = installFolder(from, to);
  writeFileSync(join(to, version, 'bin/node'), 'changed 1');
  writeFileSync(join(to, version, 'wrapper.cjs'), 'script X');
  assert.is(installFolder(from, to).files, 3);
  assert.equal([current(to, 'bin/node'), current(to, 'wrapper.cjs')], ['program 1', 'script 1']);
});

installing('changes to another version at one go; what was opened before stays', () => {
  const to = emptyFolder();
  installFolder(bundle('1'), to);
  const mounted = realpathSync(join(to, 'current'));
  const opened = openSync(join(mounted, 'wrapper.cjs'), 'r');
  installFolder(bundle('2'), to);
  assert.is(current(to, 'bin/node'), 'program 2');
  assert.is(readFileSync(join(mounted, 'bin/node'), 'utf8'), 'program 1', 'a pod that has it mounted');
  const bytes = Buffer.alloc(8);
  readSync(opened, bytes);
  assert.is(bytes.toString(), 'script 1');
});

installing('leads nowhere else until the new version is whole', () => {
  const to = emptyFolder();
  installFolder(bundle('1'), to);
  const broken = bundle('2');
  const manifest = JSON.parse(readFileSync(join(broken, 'MANIFEST.json'), 'utf8'));
  manifest.files['missing'] = { bytes: 1, sha256: '' };
  writeFileSync(join(broken, 'MANIFEST.json'), JSON.stringify(manifest));
  assert.throws(
    () => installFolder(broken, to),
    (error: SvcError) => error.code === 'COPY_FAILED' && error.exitStatus === 71,
  );
  assert.is(current(to, 'bin/node'), 'program 1');
});

installing('keeps the version before it, and takes older ones away', () => {
  const to = emptyFolder();
  const made = ['1', '2', '3', '4'].map((name, index) => {
    const { version } = installFolder(bundle(name), to);
    utimesSync(join(to, version), index, index);
    return version;
  });
  assert.equal(versions(to).sort(), made.slice(-2).sort());
  const back = installFolder(bundle('3'), to);
  assert.is(current(to, 'bin/node'), 'program 3');
  assert.equal([back.removed, back.version], [0, made[2]]);
});

installing('keeps the version that pods run with where a later one was cut off', () => {
  const to = emptyFolder();
  const { version } = installFolder(bundle('1'), to);
  utimesSync(join(to, version), 0, 0);
  const cutOff = bundle('2');
  const manifest = JSON.parse(readFileSync(join(cutOff, 'MANIFEST.json'), 'utf8'));
  manifest.files['missing'] = { bytes: 1, sha256: '' };
  writeFileSync(join(cutOff, 'MANIFEST.json'), JSON.stringify(manifest));
  assert.throws(() => installFolder(cutOff, to));
  const next = installFolder(bundle('3'), to);
  assert.equal(versions(to).sort(), [version, next.version].sort());
  assert.is(next.removed, 1);
});

installing('is for all to read, whatever the mask of the process', () => {
  const to = emptyFolder();
  const from = bundle('1');
  const mask = process.umask(0o077);
  try {
    const { version } = installFolder(from, to);
    assert.is((statSync(join(to, version)).mode & 0o777).toString(8), '755');
  } finally {
    process.umask(mask);
  }
});

installing('takes nothing away that it has not made', () => {
  const to = emptyFolder();
  for (const name of ['bin', 'deadbeef', 'F'.repeat(32)]) mkdirSync(join(to, name));
  for (const name of ['1', '2', '3']) installFolder(bundle(name), to);
  for (const name of ['bin', 'deadbeef', 'F'.repeat(32)]) assert.ok(lstatSync(join(to, name)).isDirectory());
});

installing('takes over from an installation that was cut off before its link', () => {
  const to = emptyFolder();
  symlinkSync('elsewhere', join(to, '.current'));
  installFolder(bundle('1'), to);
  assert.is(current(to, 'bin/node'), 'program 1');
  assert.equal(versions(to).length, 1);
});

installing('says where it cannot', () => {
  const to = join(bundle('1'), 'wrapper.cjs');
  assert.throws(
    () => installFolder(bundle('2'), to),
    (error: SvcError) => error.code === 'COPY_FAILED' && error.message.includes(to),
  );
});

installing.run();
