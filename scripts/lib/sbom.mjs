import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages, readPackage } from './third-party.mjs';

/**
 * The bill of materials of the npm package, CycloneDX 1.6: what its bundles hold, as esbuild wrote down, and what npm
 * installs beside it, as the lock file has it. Licences are those that the packages name. No dates: same input, same
 * document.
 * @param {string} root built and installed @param {Record<string, { inputs: object }>} outputs of esbuild
 */
export function createSbom(root, outputs) {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const bundled = bundledPackages(root, outputs).map((one) => component(one, lock, 'bundled'));
  const installed = installedPackages(root, lock).map((one) => component(one, lock, 'installed'));
  const main = { type: 'application', 'bom-ref': purl(own), name: own.name, version: own.version };
  const components = unique([...bundled, ...installed]);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...main, licenses: licences(own.license), purl: purl(own) } },
    components,
    dependencies: [{ ref: purl(own), dependsOn: components.map((one) => one['bom-ref']) }],
  };
}

/** What `npm install` of the package brings: everything in the lock file that is there not for development alone. */
function installedPackages(root, lock) {
  return Object.entries(lock)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path, entry]) =>
      existsSync(join(root, path)) ? readPackage(root, path) : absentPackage(path, entry),
    );
}

/** Of another platform, known from the lock file. */
function absentPackage(folder, { version, license }) {
  return { name: folder.replace(/^.*node_modules\//, ''), version, licence: license, folder };
}

function component({ name, version, licence, folder }, lock, how) {
  const { integrity, optional } = lock[folder] ?? {};
  return {
    type: 'library',
    'bom-ref': purl({ name, version }),
    name,
    version,
    purl: purl({ name, version }),
    scope: optional ? 'optional' : 'required',
    licenses: licences(licence),
    ...(integrity ? { hashes: [sha512(integrity)] } : {}),
    properties: [{ name: 'svc:delivery', value: how }],
  };
}

function purl({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** An SPDX expression where it is one; else a name. */
function licences(licence) {
  if (/^[\w.+-]+$/.test(licence)) return [{ license: { id: licence } }];
  const bare = licence.replace(/^\((.*)\)$/, '$1');
  if (/^[\w.+-]+( (OR|AND|WITH) [\w.+-]+)+$/.test(bare)) return [{ expression: bare }];
  return [{ license: { name: licence } }];
}

function sha512(integrity) {
  const digest = integrity.split(' ').find((one) => one.startsWith('sha512-'));
  return { alg: 'SHA-512', content: Buffer.from(digest.slice('sha512-'.length), 'base64').toString('hex') };
}

/** One that is both bundled and installed, or there twice in the same version, is listed once. */
function unique(components) {
  return [...new Map(components.toReversed().map((one) => [one['bom-ref'], one])).values()].sort((a, b) =>
    a['bom-ref'] < b['bom-ref'] ? -1 : 1,
  );
}
