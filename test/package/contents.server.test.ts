import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureBuilt } from '../cli/support/svc.ts';
import { npmPack, type Packed } from '../support/npm.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ROOT } from './support.ts';

const test = suite('what npm pack takes along');
const folder = temporaryFolder('pack');
let packed: Packed;

/** Bytes; a package that outgrows them is looked at before they are raised. */
const LIMITS = { size: 3_000_000, unpackedSize: 14_000_000 };

test.before(async () => {
  await ensureBuilt();
  packed = await npmPack(ROOT, folder.path);
});

test.after(() => folder.remove());

/** Names of chunks carry a hash, and how many there are is esbuild's matter. */
function kindOf(path: string): string {
  return path
    .replace(/^dist\/chunks\/[\w.-]+$/, 'dist/chunks/*')
    .replace(/^dist\/commands\/.*\.js$/, 'dist/commands/*')
    .replace(/^dist\/init\/\w+\//, 'dist/init/*/');
}

test('is what the list says and nothing else', () => {
  const kinds = [...new Set(packed.files.map(kindOf))].sort();
  const expected = readFileSync(new URL('./contents.snapshot.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  assert.equal(kinds, expected);
});

test('has a file for each command', () => {
  const { commands } = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'));
  const own = Object.values<{ relativePath: string[] }>(commands).map(({ relativePath }) =>
    relativePath.join('/'),
  );
  assert.equal(
    packed.files.filter((path) => path.startsWith('dist/commands/')),
    own.sort(),
  );
});

test('is no larger than it may be', () => {
  assert.ok(packed.size <= LIMITS.size, `${packed.size} bytes packed`);
  assert.ok(packed.unpackedSize <= LIMITS.unpackedSize, `${packed.unpackedSize} bytes unpacked`);
});

test('has no path of this machine in it', () => {
  const texts = packed.files.filter((path) => /\.(m?js|cjs|json|d\.ts|txt)$/.test(path));
  const named = texts.filter((path) => readFileSync(join(ROOT, path), 'utf8').includes(ROOT));
  assert.equal(named, []);
});

test.run();
