import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PACKAGE = 'opt/svc';
const BUILT = ['bin', 'dist', 'proto', 'manifests/chart/templates/crds', 'oclif.manifest.json', 'LICENSE'];

/**
 * Fills a folder with what an image has besides Debian: Node at /usr/local/bin, the built package at /opt/svc with the
 * one package that its bundle leaves outside, and `svc` on the PATH.
 * @param {string} root of the project, built @param {string} out an empty folder, or none yet
 * @throws {Error} when something is not built or installed
 */
export function assembleImage(root, out, architecture = process.arch) {
  const node = `node_modules/node-linux-${architecture}`;
  const addon = `node_modules/@yuuang/ffi-rs-linux-${architecture}-gnu`;
  const copies = [
    ...BUILT.map((name) => [name, `${PACKAGE}/${name}`]),
    ...['node_modules/ffi-rs', addon].map((name) => [name, `${PACKAGE}/${name}`]),
    [`${node}/bin/node`, 'usr/local/bin/node'],
  ];
  for (const [from, to] of copies) copy(join(root, from), join(out, to));
  writeFileSync(join(out, PACKAGE, 'package.json'), packageJson(root));
  chmodSync(join(out, PACKAGE, 'bin/run.js'), 0o755);
  symlinkSync('/opt/svc/bin/run.js', join(out, 'usr/local/bin/svc'));
}

function copy(from, to) {
  if (!existsSync(from)) throw new Error(`${from} is not there: run npm ci and npm run build`);
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, dereference: true });
}

/** Without the plugin manager, which brings all of npm: a container is not where plugins are installed. */
function packageJson(root) {
  const { name, version, type, license, oclif } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return JSON.stringify({ name, version, type, license, oclif: { ...oclif, plugins: [] } });
}
