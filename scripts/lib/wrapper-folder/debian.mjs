import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRoot } from '../paths.mjs';
import { cached, sha256File } from './cache.mjs';
import { run } from './run.mjs';

const LOCK = inRoot('scripts', 'wrapper-folder', 'debian.lock.json');

/**
 * Extracts Debian packages, pinned by version and SHA-256, into a folder, without installing anything: apt works in
 * a root of its own with the machine's sources and keys, so that foreign architectures need no dpkg --add-architecture.
 * Debian drops a version from its archive when it has a newer one; that is then taken (apt checks its signature),
 * and said, unless `frozen`.
 * @param {'libraries' | 'tools' | 'tests' | 'guest' | 'musl' | 'linker'} group of the lock file
 * @returns {{ folder: string, packages: { name: string, version: string, sha256: string }[] }}
 */
export function debianPackages(group, architecture, { frozen, say }) {
  const wanted = JSON.parse(readFileSync(LOCK, 'utf8'))[group][architecture];
  const folder = cached(`debian-${group}-${architecture}`, wanted, (target) =>
    withAptRoot(architecture, (apt) => {
      const fetched = Object.entries(wanted).map(([name, pin]) => fetchPackage(apt, name, pin, frozen));
      for (const { file } of fetched) run('dpkg-deb', ['--extract', file, target]);
      writeFileSync(
        join(target, 'packages.json'),
        JSON.stringify(fetched.map(({ file, ...facts }) => facts)),
      );
    }),
  );
  const packages = JSON.parse(readFileSync(join(folder, 'packages.json'), 'utf8'));
  for (const { name, version } of packages.filter((one) => one.version !== wanted[one.name].version)) {
    const difference = `${name} ${version} (${architecture}) instead of ${wanted[name].version}`;
    if (frozen)
      throw new Error(`The cache holds ${difference}. Remove ${folder}, and bring the lock file up to date.`);
    say(`Took ${difference}, which is not to be had here any more: bring the lock file up to date.`);
  }
  return { folder, packages };
}

function withAptRoot(architecture, work) {
  const root = mkdtempSync(join(tmpdir(), 'svc-apt-'));
  try {
    for (const path of ['state/lists/partial', 'cache/archives/partial'])
      mkdirSync(join(root, path), { recursive: true });
    writeFileSync(join(root, 'status'), '');
    const options = {
      'Dir::State': join(root, 'state'),
      'Dir::State::status': join(root, 'status'),
      'Dir::Cache': join(root, 'cache'),
      'APT::Architecture': architecture,
      'APT::Architectures': architecture,
      'APT::Sandbox::User': 'root',
      'Acquire::Languages': 'none',
      'Acquire::Retries': '3',
    };
    const flags = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    const apt = (...args) => run('apt-get', ['-qq', ...flags, ...args], { cwd: root });
    apt('update');
    work({ root, apt, architecture });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function fetchPackage({ root, apt, architecture }, name, { version, sha256 }, frozen) {
  try {
    apt('download', `${name}:${architecture}=${version}`);
  } catch (error) {
    if (frozen) throw error;
    apt('download', `${name}:${architecture}`);
  }
  const file = downloaded(root, name);
  const facts = {
    name,
    version: run('dpkg-deb', ['--field', file, 'Version']).trim(),
    sha256: sha256File(file),
  };
  if (facts.version === version && facts.sha256 !== sha256)
    throw new Error(`${name} ${version} (${architecture}) is not what the lock file names: ${facts.sha256}.`);
  return { ...facts, file };
}

function downloaded(root, name) {
  const file = readdirSync(root).find((entry) => entry.startsWith(`${name}_`) && entry.endsWith('.deb'));
  if (file === undefined) throw new Error(`apt-get download left no package ${name}.`);
  return join(root, file);
}
