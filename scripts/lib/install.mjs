import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** True when npm's record of node_modules holds every package of the lock file; optional ones may be absent. */
export function isInstalled(root) {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages ?? {};
  const present = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  if (!present) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = present[path];
    return found
      ? found.version === entry.version && found.integrity === entry.integrity
      : entry.optional === true;
  });
}

/** Runs `npm ci` when what is installed is not what the lock file says. Throws when npm fails. */
export function ensureInstalled(root) {
  if (isInstalled(root)) return;
  process.stderr.write('Installing dependencies (npm ci) …\n');
  const started = Date.now();
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) {
    throw new Error(
      `npm ci failed${error ? `: ${error.message}` : ` with status ${status}`}.\n` +
        "Next: read npm's message above; without a network, point npm at a registry that can be reached.",
    );
  }
  process.stderr.write(`Installed in ${Math.round((Date.now() - started) / 1000)} s.\n`);
}
