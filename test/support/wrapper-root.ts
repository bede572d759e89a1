import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { initProgram } from '../../scripts/lib/init.mjs';
import { ToolUnavailable } from './tool-unavailable.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUNDLE = join(ROOT, 'scripts/bundle-wrapper.mjs');
/** Making one takes two seconds of a processor, which each suite with a wrapper image need not spend again. */
const KEPT = join(ROOT, 'node_modules/.cache/svc-test-wrapper');
const SOURCES = [
  'scripts/bundle-wrapper.mjs',
  'scripts/{lib,wrapper-folder}/**/*',
  'dist/wrapper.cjs*',
  'LICENSE',
];

/** Makes the root of the wrapper image: its folder at /svc and nothing else. */
export function makeWrapperRoot(root: string): void {
  mkdirSync(root, { recursive: true });
  // a copy: what a broken wrapper or container changes stays with its suite
  run('cp', ['-a', '--reflink=auto', join(keptFolder(), 'svc'), root]);
}

/** The folder that `bundle:wrapper` makes of these sources; those of other sources go. */
function keptFolder(): string {
  const key = keyOfSources();
  const folder = join(KEPT, key);
  if (existsSync(folder)) return folder;
  mkdirSync(KEPT, { recursive: true });
  for (const name of readdirSync(KEPT))
    if (!name.startsWith(key)) rmSync(join(KEPT, name), { recursive: true, force: true });
  const own = mkdtempSync(`${folder}.`);
  try {
    run(process.execPath, [BUNDLE, '--out', join(own, 'svc')]);
    renameSync(own, folder);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    // another suite was as far before
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function keyOfSources(): string {
  const files = globSync([...SOURCES, initProgram(process.arch)], { cwd: ROOT, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256').update(`${process.arch} ${packageVersion()}`);
  for (const file of files)
    hash.update(`\n${file} `).update(createHash('sha256').update(readFileSync(file)).digest());
  return hash.digest('hex').slice(0, 16);
}

const packageVersion = () => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new ToolUnavailable('packages of the wrapper folder', stderr.trim());
}
