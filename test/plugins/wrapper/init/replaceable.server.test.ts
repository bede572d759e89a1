import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isSelfContained,
  replaceableBySetting,
  replaceablePart,
  unaskedFiles,
} from '../../../../src/plugins/wrapper/init/replaceable.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { checkPrefix, ordinaryUser } from '../support/confined.ts';

const test = suite('what an application of the same user could replace');
const source = new URL('../../../../src/plugins/wrapper/init/replaceable.ts', import.meta.url).href;
const nobody = 65_534;
let folder: TemporaryFolder;

/** Folders of root and of the application's user below each other, each with a file of root. */
test.before(() => {
  checkPrefix(ordinaryUser);
  folder = temporaryFolder('replaceable');
  chmodSync(folder.path, 0o755);
  for (const [name, mode, uid] of [
    ['root', 0o755, 0],
    ['own', 0o755, nobody],
    ['own/sub', 0o755, 0],
    ['shared', 0o1777, 0],
  ] as const) {
    mkdirSync(at(name));
    chmodSync(at(name), mode);
    writeFileSync(at(name, 'file'), '', { mode: 0o644 });
    chownSync(at(name), uid, uid);
  }
  writeFileSync(at('shared', 'own'), '');
  chownSync(at('shared', 'own'), nobody, nobody);
  symlinkSync('../own/sub/file', at('root', 'link'));
  symlinkSync('loop', at('root', 'loop'));
});
test.after(() => folder.remove());

const at = (...names: string[]) => join(folder.path, ...names);

/** As that user finds it, in a working directory of its own. */
const asked = (expression: string, ...args: readonly unknown[]) => askedBy(ordinaryUser, expression, ...args);

function askedBy(user: readonly string[], expression: string, ...args: readonly unknown[]): unknown {
  const script = `const { mayReachAnyFile, replaceablePart, replaceableBySetting, unaskedFiles } = await import(${JSON.stringify(source)});
    const args = JSON.parse(process.argv[1]);
    const [never, always] = [() => false, () => true];
    const [npm, folder] = [false, true].map((selfContained) => ({ selfContained, mayUnmount: never }));
    process.stdout.write(JSON.stringify(${expression}));`;
  const command = [...user, process.execPath, '--input-type=module', '-e', script];
  const [file = '', ...rest] = [...command, JSON.stringify(args)];
  const { status, stdout, stderr } = spawnSync(file, rest, { cwd: at('own'), encoding: 'utf8' });
  assert.is(status, 0, stderr);
  return JSON.parse(stdout);
}

const parts = (...paths: string[]) =>
  asked('args.map((path) => replaceablePart(path, never) ?? null)', ...paths);
const settings = (...envs: Record<string, string>[]) =>
  asked('args.map((env) => replaceableBySetting(env, [], npm) ?? null)', ...envs);

test('files of others in folders of others are safe, missing ones too', () => {
  const safe = [at('root', 'file'), at('root', 'missing', 'file'), at('shared', 'file'), '/bin/sh'];
  assert.equal(parts(...safe), [null, null, null, null]);
});

test('a folder anywhere on the way, on that of a link too, is enough', () => {
  assert.equal(parts(at('own', 'file'), at('own', 'sub', 'file'), at('root', 'link')), [
    at('own', 'file'),
    at('own', 'sub'),
    at('own', 'sub'),
  ]);
});

test('a `..` behind a link is where the link leads', () => {
  symlinkSync('../own/sub', at('root', 'away'));
  assert.equal(parts(`${at('root')}/away/../file`), [at('own', 'sub')]);
  assert.equal(parts(`${at('own')}/../shared/file`), [null]);
});

test('what the user may not look at is not taken for safe', () => {
  mkdirSync(at('hidden'), { mode: 0o700 });
  assert.equal(parts(at('hidden', 'file')), [at('hidden', 'file')]);
});

test('so is a missing file that could be made, a link without an end, an own file in a sticky folder', () => {
  const open = [at('own', 'missing'), at('shared', 'missing'), at('root', 'loop'), at('shared', 'own')];
  assert.equal(parts(...open), open);
});

test('variables count by the folders that they name, which need not be there', () => {
  assert.equal(
    settings(
      { LD_LIBRARY_PATH: `${at('root')}:${at('own')}` },
      { LD_LIBRARY_PATH: `:${at('root')}` },
      { LD_LIBRARY_PATH: '$ORIGIN/lib' },
      { LD_PRELOAD: at('own', 'missing.so') },
      { OPENSSL_CONF: at('own', 'openssl.cnf') },
      { NODE_COMPILE_CACHE: at('shared', 'cache') },
    ),
    [
      'LD_LIBRARY_PATH',
      'LD_LIBRARY_PATH',
      'LD_LIBRARY_PATH',
      'LD_PRELOAD',
      'OPENSSL_CONF',
      'NODE_COMPILE_CACHE',
    ],
  );
});

test('those that name what is safe, or nothing, do not', () => {
  const none = settings(
    { LD_LIBRARY_PATH: at('root'), LD_PRELOAD: at('root', 'file'), OPENSSL_CONF: at('root', 'file') },
    { LD_PRELOAD: 'libjemalloc.so.2', LD_LIBRARY_PATH: '', NODE_OPTIONS: `--require=${at('own', 'file')}` },
  );
  assert.equal(none, [null, null]);
});

test("the system's own libraries are safe from an ordinary user, and open to root", () => {
  const open = 'unaskedFiles(false).filter((path) => replaceablePart(path, never) !== undefined)';
  assert.equal(asked(open), []);
  const files = unaskedFiles(false);
  assert.ok(files.includes('/etc/ld.so.preload'));
  assert.ok(files.every((path) => replaceablePart(path, () => false) !== undefined));
});

test('in the self-contained folder the folder counts in their place, and not what it ignores', () => {
  const loader = at('root', 'loader');
  writeFileSync(loader, 'a loader: \0/svc/ld.so.preload\0');
  assert.ok(isSelfContained(loader));
  assert.not.ok(isSelfContained(process.execPath));
  assert.ok(unaskedFiles(true).every((path) => path.startsWith('/svc/')));
  const open = {
    LD_PRELOAD: at('own', 'missing.so'),
    LD_LIBRARY_PATH: at('own'),
    OPENSSL_CONF: at('own', 'file'),
  };
  assert.is(asked('replaceableBySetting(args[0], [], folder) ?? null', open), null);
  assert.is(
    asked('replaceableBySetting(args[0], [], folder) ?? null', { ...open, LD_AUDIT: 'a.so' }),
    'LD_AUDIT',
  );
  const system = { NODE_USE_SYSTEM_CA: '1' };
  const asRoot = (selfContained: boolean) =>
    replaceableBySetting(system, [], { selfContained, mayUnmount: () => false });
  assert.equal([asRoot(false), asRoot(true)], ['NODE_USE_SYSTEM_CA', undefined]);
});

test('one that may take files of others over can replace them all', () => {
  const user = (...caps: string[]) => {
    const set = caps.map((name) => `+${name}`).join(',');
    return [
      'setpriv',
      '--reuid=65534',
      '--regid=65534',
      '--clear-groups',
      `--inh-caps=${set}`,
      `--ambient-caps=${set}`,
    ];
  };
  for (const capability of ['chown', 'dac_override', 'fowner', 'setuid', 'setgid'])
    assert.ok(
      askedBy(user(capability), 'replaceablePart(args[0], never) ?? null', at('root', 'file')),
      capability,
    );
  assert.is(askedBy(user('kill'), 'replaceablePart(args[0], never) ?? null', at('root', 'file')), null);
  assert.equal(
    // with setuid and setfcap, what the bounding set holds is to be had
    ['kill', 'sys_admin', 'dac_read_search', 'setuid', 'setfcap'].map((name) =>
      askedBy(user(name), 'mayReachAnyFile()'),
    ),
    [false, true, true, true, true],
  );
});

test('what is mounted in a folder of the user is safe only where it cannot undo mounts', () => {
  mkdirSync(at('own', 'mounted'));
  const mounted = ['unshare', '--mount', 'sh', '-ec', 'mount -t tmpfs none "$0"; chmod 755 "$0"; exec "$@"'];
  const look = '[never, always].map((may) => replaceablePart(args[0], may) ?? null)';
  assert.equal(
    askedBy([...mounted, at('own', 'mounted'), ...ordinaryUser], look, at('own', 'mounted', 'x')),
    [null, at('own', 'mounted')],
  );
});

test("Node's flags that load files do", () => {
  const flags = (...given: string[]) => asked('replaceableBySetting({}, args, npm) ?? null', ...given);
  assert.is(flags('--disable-sigusr1', '--require=x.js'), '--require=x.js');
  assert.is(flags('--disable-sigusr1', '--max-semi-space-size=1'), null);
});

test.run();
