import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ARCHITECTURES } from '../../scripts/lib/wrapper-folder/architectures.mjs';
import { sha256File } from '../../scripts/lib/wrapper-folder/cache.mjs';
import { debianPackages } from '../../scripts/lib/wrapper-folder/debian.mjs';
import { elfTools } from '../../scripts/lib/wrapper-folder/elf.mjs';
import { filesOf } from '../../scripts/lib/wrapper-folder/manifest.mjs';
import { type BareRoot, bareRoot } from '../support/bare-root.ts';
import { readElfHeader } from '../support/elf.ts';
import { startOpenBao } from '../support/openbao.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ToolUnavailable } from '../support/tool-unavailable.ts';
import type { CommandResult, OpenBao } from '../support/types.ts';

/** Copies of Node are made again and again. */
export const timeout = 300_000;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const host = ARCHITECTURES[process.arch as keyof typeof ARCHITECTURES];
const folder = temporaryFolder('bundle');
const SECRET = 'correct-horse-battery-staple';

function make(architecture: string, out: string, ...more: readonly string[]): string {
  const args = [join(ROOT, 'scripts/bundle-wrapper.mjs'), '--arch', architecture, '--out', out, ...more];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (/apt-get .* failed|dpkg-deb .* failed: spawn|npm ci .* failed/.test(stderr)) {
    throw new ToolUnavailable('packages of the wrapper folder', stderr.trim());
  }
  assert.is(status, 0, stderr);
  return out;
}

interface Manifest {
  readonly bytes: number;
  readonly architecture: string;
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
}

const manifestOf = (path: string): Manifest => JSON.parse(readFileSync(join(path, 'MANIFEST.json'), 'utf8'));

function testPrograms(): { busybox: string; musl: string } {
  try {
    const { folder: programs } = debianPackages('tests', host.debian, {
      frozen: false,
      say: () => undefined,
    });
    return { busybox: join(programs, 'bin', 'busybox'), musl: programs };
  } catch (error) {
    throw new ToolUnavailable('busybox-static, musl', error instanceof Error ? error.message : '', {
      cause: error,
    });
  }
}

/** A program whose loader and C library are musl's, without musl-gcc: its specs hold absolute paths. */
function muslProgram(musl: string): { program: string; loader: string } {
  const triplet = host.triplet.replace('gnu', 'musl');
  const lib = (name: string) => join(musl, 'usr', 'lib', triplet, name);
  const loader = `ld-musl-${host.triplet.split('-')[0]}.so.1`;
  const program = join(folder.path, 'read-secret');
  const source = join(ROOT, 'test/scripts/fixtures/read-secret.c');
  const headers = ['-nostdinc', '-isystem', join(musl, 'usr', 'include', triplet)];
  const linked = ['-nostdlib', '-no-pie', '-fno-stack-protector', `-Wl,-dynamic-linker,/lib/${loader}`];
  const libc = join(musl, 'lib', triplet);
  const parts = [lib('crt1.o'), lib('crti.o'), source, `-L${libc}`, '-lc', lib('crtn.o')];
  const { status, stderr, error } = spawnSync('gcc', [...headers, ...linked, '-o', program, ...parts], {
    encoding: 'utf8',
  });
  if (error) throw new ToolUnavailable('gcc', error.message);
  assert.is(status, 0, stderr);
  return { program, loader: join(libc, 'libc.so') };
}

interface World {
  readonly bao: OpenBao;
  readonly root: BareRoot;
  readonly path: string;
  /** A wrapper whose key server is away, started first. */
  readonly waiting: Promise<CommandResult>;
}

let world: World;
const bundle = suite("the wrapper's self-contained folder");

bundle.before(async () => {
  const path = make(process.arch, join(folder.path, process.arch, 'svc'));
  const { busybox, musl } = testPrograms();
  const { program, loader } = muslProgram(musl);
  const root = bareRoot(busybox, {
    svc: path,
    'bin/read-secret': program,
    [`lib/ld-musl-${host.triplet.split('-')[0]}.so.1`]: loader,
    'lib/libm.so.6': loader,
  });
  const bao = await startOpenBao();
  await bao.request('POST', 'secret/data/app', { data: { DEMO_PASSWORD: SECRET } });
  const away = { VAULT_ADDR: 'http://127.0.0.1:9', SVC_STARTUP_TIMEOUT: '25s' };
  const settings = { ...away, VAULT_TOKEN: 'none', SVC_SECRET_PATHS: 'secret/app', HEALTH_ADDR: '' };
  const waiting = root.run(['/svc/svc-wrapper', '--', '/bin/busybox', 'true'], settings);
  world = { bao, root, path, waiting };
});

bundle.after(async () => {
  await world?.waiting;
  await world?.bao.stop();
  await world?.root.remove();
  await folder.remove();
});

const settings = () => ({
  VAULT_ADDR: world.bao.url,
  VAULT_TOKEN: world.bao.rootToken,
  SVC_SECRET_PATHS: 'secret/app',
  HEALTH_ADDR: '',
});

/** What breaks a Node, or a program of another C library, that takes it for its own. */
const FOREIGN = {
  NODE_OPTIONS: '--require /not/there.js --no-such-flag',
  NODE_EXTRA_CA_CERTS: '/not/there.pem',
  NODE_V8_COVERAGE: '/tmp/coverage',
  OPENSSL_CONF: '/bin/busybox',
  LD_LIBRARY_PATH: '/lib',
  LD_PRELOAD: '/bin/read-secret',
};

bundle('runs in a root that holds a static busybox and nothing else', async () => {
  const { status, stdout, stderr } = await world.root.run(
    ['/svc/svc-wrapper', '--', '/bin/busybox', 'sh', '-c', 'echo "$DEMO_PASSWORD"; exit 5'],
    settings(),
  );
  assert.is(status, 5, stderr);
  assert.is(stdout, `${SECRET}\n`);
  assert.not.match(stderr, new RegExp(SECRET));
});

bundle('runs an application of another C library, which finds its secrets both ways', async () => {
  const { status, stdout, stderr } = await world.root.run(
    ['/svc/svc-wrapper', '--', '/bin/read-secret'],
    settings(),
  );
  assert.is(status, 7, stderr);
  assert.is(stdout, `environment: ${SECRET}\ndescriptor: DEMO_PASSWORD=${SECRET}\n`);
});

bundle('and as an ordinary user without capabilities', async () => {
  const { status, stdout, stderr } = await world.root.run(
    ['/svc/svc-wrapper', '--', '/bin/read-secret'],
    { ...settings(), SVC_REQUIRE_MLOCK: 'false', SVC_DELIVERY: 'fd' },
    true,
  );
  assert.is(status, 7, stderr);
  assert.is(stdout, `environment: none\ndescriptor: DEMO_PASSWORD=${SECRET}\n`);
});

bundle("what an image sets for its own Node and libraries does not reach the wrapper's", async () => {
  const { status, stdout, stderr } = await world.root.run(
    [
      '/svc/svc-wrapper',
      '--',
      '/bin/busybox',
      'sh',
      '-c',
      'echo "$NODE_OPTIONS $LD_LIBRARY_PATH $LD_PRELOAD"',
    ],
    { ...settings(), ...FOREIGN },
  );
  assert.is(status, 0, stderr);
  assert.is(stdout, `${FOREIGN.NODE_OPTIONS} /lib ${FOREIGN.LD_PRELOAD}\n`);
  assert.not.match(stderr, /certs|not allowed|OpenSSL|preload/i);
  assert.not.ok(existsSync(join(world.root.path, 'tmp', 'coverage')));
});

bundle('an ES module package in the root of an image does not change how it is read', async () => {
  const { stderr } = await world.root.run([
    '/bin/busybox',
    'sh',
    '-c',
    'echo \'{"type":"module"}\' >/package.json',
  ]);
  assert.is(stderr, '');
  const { status } = await world.root.run(
    ['/svc/svc-wrapper', '--', '/bin/busybox', 'sh', '-c', 'exit 9'],
    settings(),
  );
  assert.is(status, 9);
});

bundle(
  'copies itself into a folder of a volume, as an ordinary user, and again over a copy that was cut off',
  async () => {
    const target = join(world.root.path, 'tmp', 'target');
    mkdirSync(target);
    chmodSync(target, 0o777);
    const copy = () => world.root.run(['/svc/svc-wrapper', '--copy-to', '/tmp/target'], {}, true);
    assert.is((await copy()).status, 0);
    rmSync(join(target, 'MANIFEST.json'));
    truncateSync(join(target, 'bin/node'), 1_000);
    const { status, stderr } = await copy();
    assert.is(status, 0, stderr);
    const facts = (path: string) =>
      [...filesOf(path), 'MANIFEST.json'].map(
        (name) => `${name} ${lstatSync(join(path, name)).mode.toString(8)} ${sha256File(join(path, name))}`,
      );
    assert.equal(facts(target), facts(world.path));
    assert.equal(readdirSync(join(target, 'certs')), []);
  },
);

for (const [architecture, names] of Object.entries(ARCHITECTURES)) {
  bundle(
    `${architecture}: right machine, its own loader, every library there, all of it in the manifest`,
    () => {
      const path = make(architecture, join(folder.path, architecture, 'svc'));
      const manifest = manifestOf(path);
      assert.is(manifest.architecture, architecture);
      assert.equal(Object.keys(manifest.files), filesOf(path));
      let bytes = 0;
      for (const [name, { sha256, bytes: size }] of Object.entries(manifest.files)) {
        assert.is(sha256File(join(path, name)), sha256, name);
        bytes += size;
      }
      assert.is(manifest.bytes, bytes);
      const interpreter = `/svc/lib/${names.loader}`;
      assert.equal(readElfHeader(join(path, 'bin/node')), { machine: names.machine, interpreter });
      assertSelfContained(path, names.machine);
    },
  );
}

/** Every library that a binary names lies in the folder and is made for the same machine. */
function assertSelfContained(path: string, machine: number): void {
  const tools = elfTools(
    debianPackages('tools', host.debian, { frozen: false, say: () => undefined }).folder,
    host,
  );
  const libraries = readdirSync(join(path, 'lib'));
  for (const name of ['bin/node', 'ffi-rs.node', ...libraries.map((library) => `lib/${library}`)]) {
    assert.is(readElfHeader(join(path, name)).machine, machine, name);
    for (const needed of tools.needed(join(path, name)))
      assert.ok(libraries.includes(needed), `${name}: ${needed}`);
  }
}

const caches = ['worker.cache', 'wrapper.cache'];

bundle('the same input makes the same folder, down to modes and times', () => {
  const bare = (name: string) => make(process.arch, join(folder.path, name, 'svc'), '--no-code-cache');
  const [first, again] = [bare('first'), bare('again')];
  const facts = (path: string) =>
    [...filesOf(path), 'MANIFEST.json', '', 'bin', 'lib'].map((name) => {
      const { mode, mtimeMs } = lstatSync(join(path, name));
      return `${name} ${mode.toString(8)} ${mtimeMs}`;
    });
  assert.equal(manifestOf(again), manifestOf(first));
  assert.equal(facts(again), facts(first));
  assert.equal(
    filesOf(world.path).filter((name) => !caches.includes(name)),
    filesOf(first),
  );
});

bundle('its Node takes the code caches that were made for it', async () => {
  const check = `
    const { readFileSync } = require('node:fs');
    const { Script } = require('node:vm');
    const source = \`(function (require, module, __filename, __dirname) {\${readFileSync('/svc/wrapper.cjs', 'latin1')}\\n})\`;
    const isRejected = (name) => new Script(source, { cachedData: readFileSync('/svc/' + name).subarray(32) }).cachedDataRejected;
    process.exitCode = ${JSON.stringify(caches)}.some(isRejected) ? 1 : 0;`;
  const { status, stderr } = await world.root.run(['/svc/bin/node', '-e', check]);
  assert.is(status, 0, stderr);
});

bundle(
  'stays alive while it waits, although its memory is locked and V8 would like to give some back',
  async () => {
    const { status, stderr } = await world.waiting;
    assert.is(status, 69, stderr.slice(-2000));
    assert.match(stderr, '"lock":"all"');
  },
);

bundle('a folder that is none of ours is not replaced', () => {
  const other = temporaryFolder('other');
  const args = [join(ROOT, 'scripts/bundle-wrapper.mjs'), '--out', other.path];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.is(status, 1);
  assert.match(stderr, /no folder of this script/);
  assert.ok(existsSync(other.path));
  return other.remove();
});

bundle('carries the same native module as the package', () => {
  const locked = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')).packages;
  const name = 'node_modules/@yuuang/ffi-rs-linux-x64-gnu';
  const own = locked('scripts/wrapper-folder/package-lock.json')[name];
  const packaged = locked('package-lock.json')[name];
  assert.is(own.integrity, packaged.integrity);
});

bundle.run();
