import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const NOT_OURS = ['node_modules', 'dist', '.git'];

/**
 * The packages of the repository's lock files that npm would install without comparing a hash: it writes an entry
 * without one for other platforms' packages that it did not fetch.
 * @param {string} root @returns {string[]}
 */
export function withoutIntegrity(root) {
  const files = globSync('**/package-lock.json', { cwd: root, exclude: (name) => NOT_OURS.includes(name) });
  return files.sort().flatMap((file) => {
    const { packages = {} } = JSON.parse(readFileSync(join(root, file), 'utf8'));
    return Object.keys(packages)
      .filter((path) => !isHashed(packages, path))
      .map(
        (path) =>
          `${file}: ${path} has no integrity: add what \`npm view ${nameOf(path)}@${packages[path].version} dist.integrity\` prints.`,
      );
  });
}

/** Of the root and of links nothing is fetched; what is in a bundle comes with the package around it. */
function isHashed(packages, path) {
  const { integrity, link, inBundle } = packages[path] ?? {};
  if (path === '' || link || integrity) return true;
  const around = path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/')));
  return Boolean(inBundle) && around !== '' && isHashed(packages, around);
}

const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
