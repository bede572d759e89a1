import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Entry } from './cpio.ts';
import type { Architecture } from './types.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/** Where the built package lies in the guest; `svc` and `svc-wrapper` are on its PATH. */
export const PACKAGE = '/opt/svc';
export const PINNED_NODE = join(ROOT, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
const addonName = (architecture: string) => `ffi-rs-linux-${architecture}-gnu`;
const addonFile = (architecture: string) => `ffi-rs.linux-${architecture}-gnu.node`;
const SCOPE = 'node_modules/@yuuang';
export const NATIVE_ADDON = join(ROOT, SCOPE, addonName(process.arch), addonFile(process.arch));

/** What changes with every build: the bundle and what it reads at run time. */
export function builtPackage(): Entry[] {
  if (!existsSync(join(ROOT, 'dist', 'main.js'))) throw new Error('dist/ is not built: run npm run build');
  const parts = ['bin', 'dist', 'proto', 'oclif.manifest.json'];
  return [
    { path: `${PACKAGE}/package.json`, content: packageJson() },
    ...parts.flatMap((name) => tree(join(ROOT, name), `${PACKAGE}/${name}`)),
  ];
}

/** Without the plugin manager, which brings all of npm and has nothing to fetch there. */
function packageJson(): string {
  const described = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return JSON.stringify({ ...described, oclif: { ...described.oclif, plugins: [] } });
}

/**
 * What only changes with the lock file: the packages that the bundle leaves outside, and the commands.
 * @param addon the folder of ffi-rs's package for that architecture
 */
export function installedPackages(architecture: Architecture, addon: string): Entry[] {
  const folder = `${PACKAGE}/${SCOPE}/${addonName(architecture)}`;
  const files = [addonFile(architecture), 'package.json'];
  return [
    ...files.map((name) => ({ path: `${folder}/${name}`, file: join(addon, name) })),
    ...tree(join(ROOT, 'node_modules', 'ffi-rs'), `${PACKAGE}/node_modules/ffi-rs`),
    { path: '/node_modules', link: `${PACKAGE}/node_modules` },
    { path: '/usr/bin/svc', link: `${PACKAGE}/bin/run.js` },
    { path: '/usr/bin/svc-wrapper', link: `${PACKAGE}/bin/svc-wrapper.js` },
  ];
}

/** A host file, or a folder with everything in it, at a path of the guest. */
export function tree(from: string, path: string): Entry[] {
  const found = statSync(from);
  if (!found.isDirectory()) return [{ path, file: from, executable: (found.mode & 0o100) !== 0 }];
  const below = readdirSync(from).flatMap((name) => tree(join(from, name), `${path}/${name}`));
  return [{ path, folder: true }, ...below];
}
