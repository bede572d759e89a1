import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What publint and arethetypeswrong find in the tarball that would be published; empty when they find nothing. */
export function complaintsOfPackage(root) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pack-'));
  try {
    const tarball = pack(root, folder);
    return [
      complaint(root, 'publint/src/cli.js', 'run', '--strict', tarball),
      // this package is of ES modules; require() of them is Node's matter
      complaint(root, '@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only'),
    ].join('');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Makes the tarball in the folder and returns its path. */
function pack(root, folder) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { status, stdout, stderr } = node(root, 'npm/bin/npm-cli.js', args);
  if (status !== 0) throw new Error(`npm pack: ${stderr}`);
  const [{ filename }] = Object.values(JSON.parse(stdout));
  return join(folder, filename);
}

function complaint(root, tool, ...args) {
  const { status, stdout, stderr } = node(root, tool, args);
  return status === 0 ? '' : `${stdout}${stderr}`;
}

function node(root, script, args) {
  return spawnSync(process.execPath, [join(root, 'node_modules', script), ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
}
