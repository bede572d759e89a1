import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../paths.mjs';
import { cached } from './cache.mjs';
import { run } from './run.mjs';

const FILES = ['package.json', 'package-lock.json'];
const SOURCE = inRoot('scripts', 'wrapper-folder');

/**
 * Installs the folder's own npm packages for an architecture, with the integrity of their lock file and without
 * their scripts.
 * @returns {{ node: string, addon: string, packages: { name: string, version: string, integrity: string }[] }} folders
 */
export function npmPackages(architecture) {
  const texts = FILES.map((name) => readFileSync(join(SOURCE, name), 'utf8'));
  const folder = cached(`npm-${architecture}`, texts, (target) => {
    for (const name of FILES) copyFileSync(join(SOURCE, name), join(target, name));
    const platform = ['--os=linux', `--cpu=${architecture}`, '--libc=glibc'];
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', ...platform], { cwd: target });
  });
  const names = [`node-linux-${architecture}`, `@yuuang/ffi-rs-linux-${architecture}-gnu`];
  const locked = JSON.parse(texts[1]).packages;
  const [node, addon] = names.map((name) => join(folder, 'node_modules', name));
  const packages = names.map((name) => {
    const { version, integrity } = locked[`node_modules/${name}`];
    return { name, version, integrity };
  });
  return { node, addon, packages };
}
