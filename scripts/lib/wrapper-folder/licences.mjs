import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from '../paths.mjs';

/** The licences of everything in the folder, a file each, named after what it covers. */
export function copyLicences(folder, { libraries, npm }) {
  const target = join(folder, 'licenses');
  mkdirSync(target);
  const copyright = (name) => join(libraries, 'usr', 'share', 'doc', name, 'copyright');
  const sources = {
    'svc-wrapper': inRoot('LICENSE'),
    'svc-wrapper-packages': inRoot('dist', 'wrapper.cjs.LEGAL.txt'),
    node: join(npm.node, 'LICENSE'),
    'ffi-rs': join(npm.addon, 'package.json'),
    glibc: copyright('libc6'),
    gcc: copyright('gcc-12-base'),
  };
  for (const [name, path] of Object.entries(sources)) {
    if (existsSync(path)) copyFileSync(path, join(target, name));
  }
}
