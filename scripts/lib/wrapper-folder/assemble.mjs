import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { LOADER, writeCodeCaches } from './code-cache.mjs';
import { ignoreForeignVariables, ignorePreloads } from './elf.mjs';
import { copyLicences } from './licences.mjs';
import { filesOf, MANIFEST, writeManifest } from './manifest.mjs';
import { renameSystemFiles } from './system-files.mjs';

/** Where the folder must lie in the image: a binary's interpreter is an absolute path. */
export const PREFIX = '/svc';

const EXECUTABLE = 0o755;
const PLAIN = 0o644;

/**
 * Fills an empty folder with Node, the loader and libraries it needs, the native module, the wrapper and a manifest.
 * @param folder empty
 * @param parts { architecture, names, libraries, npm, tools, script, init, packages, version, codeCache }
 */
export function assemble(folder, parts) {
  const node = join(folder, 'bin', 'node');
  const addon = join(folder, 'ffi-rs.node');
  mkdirSync(dirname(node));
  mkdirSync(join(folder, 'lib'));
  // a place for a mount, where the folder itself is mounted read-only
  mkdirSync(join(folder, 'certs'));
  copyFileSync(join(parts.npm.node, 'bin', 'node'), node);
  copyFileSync(join(parts.npm.addon, `ffi-rs.linux-${parts.architecture}-gnu.node`), addon);
  copyLibraries(folder, [node, addon], parts);
  for (const file of [node, addon]) parts.tools.strip(file);
  ignoreForeignVariables(node);
  ignorePreloads(join(folder, 'lib', parts.names.loader), parts.architecture);
  parts.tools.relocate(node, `${PREFIX}/lib/${parts.names.loader}`, '$ORIGIN/../lib');
  writeScript(folder, parts);
  copyFileSync(parts.init, join(folder, 'svc-init'));
  copyLicences(folder, { libraries: parts.libraries, npm: parts.npm });
  renameSystemFiles(folder, parts.names);
  const manifest = writeManifest(folder, parts);
  settle(folder);
  return manifest;
}

/** Everything that the files are linked against, and what that is linked against in turn. */
function copyLibraries(folder, files, { libraries, names, tools }) {
  const done = new Set();
  const wanted = files.flatMap(tools.needed);
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (done.has(name)) continue;
    done.add(name);
    const target = join(folder, 'lib', name);
    copyFileSync(findLibrary(libraries, names, name), target);
    wanted.push(...tools.needed(target));
  }
}

function findLibrary(libraries, { triplet }, name) {
  const places = ['lib', 'usr/lib'].map((place) => join(libraries, place, triplet, name));
  const found = places.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`No package of the lock file holds ${name}.`);
  return found;
}

/**
 * An executable script without extension is CommonJS whatever package.json an image has in its root. Without the flag,
 * a SIGUSR1 that comes before the wrapper listens would open a debugger's port.
 */
function writeScript(folder, { script, version, npm, architecture, codeCache, init }) {
  const loader = readFileSync(LOADER, 'utf8');
  writeFileSync(join(folder, 'svc-wrapper'), `#!${PREFIX}/bin/node --disable-sigusr1\n${loader}`);
  writeFileSync(join(folder, 'wrapper.cjs'), readFileSync(script, 'latin1').replace(/^#!.*\n/, ''), 'latin1');
  const described = { name: 'svc-wrapper', version, private: true, type: 'commonjs' };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(described, undefined, 2)}\n`);
  const addon = join(npm.addon, `ffi-rs.linux-${architecture}-gnu.node`);
  if (codeCache) writeCodeCaches(folder, { node: join(npm.node, 'bin', 'node'), addon, init });
}

/** Modes and times that do not depend on who made the folder and when. */
function settle(folder) {
  for (const path of [...filesOf(folder), MANIFEST]) {
    const file = join(folder, path);
    chmodSync(file, /^(bin\/|lib\/ld-|svc-(init|wrapper)$)/.test(path) ? EXECUTABLE : PLAIN);
    utimesSync(file, 0, 0);
  }
  for (const path of ['bin', 'certs', 'lib', 'licenses', '']) {
    chmodSync(join(folder, path), EXECUTABLE);
    utimesSync(join(folder, path), 0, 0);
  }
}
