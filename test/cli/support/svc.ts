import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LineOutcome } from './script.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const SHELL = `svc() { "$SVC_NODE" "$SVC_ENTRY" "$@"; }
svc-wrapper() { "$SVC_NODE" "$SVC_WRAPPER" "$@"; }
`;

/** A home of its own, so that neither plugins nor settings of this machine's user are seen. */
export interface Home {
  readonly dir: string;
  /** Runs a line of bash in which `svc` and `svc-wrapper` are the real command lines. */
  bash(line: string): LineOutcome;
  remove(): void;
}

export function makeHome(): Home {
  const dir = mkdtempSync(join(tmpdir(), 'svc-cli-'));
  const env = {
    PATH: process.env['PATH'],
    HOME: dir,
    LC_ALL: 'C.UTF-8',
    SVC_NODE: process.execPath,
    SVC_ENTRY: join(ROOT, 'bin', 'run.js'),
    SVC_WRAPPER: join(ROOT, 'bin', 'svc-wrapper.js'),
    FIXTURES: join(ROOT, 'test', 'cli', 'fixtures'),
  };
  return {
    dir,
    bash: (line) => {
      const options = { cwd: dir, env, encoding: 'utf8', timeout: 60_000 } as const;
      const { stdout, stderr, status } = spawnSync('bash', ['-o', 'pipefail', '-c', SHELL + line], options);
      return { stdout, stderr, status };
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** Builds dist/ when the sources have changed since. */
export async function ensureBuilt(): Promise<void> {
  const { isBuilt } = await import('../../../scripts/lib/stamp.mjs');
  if (isBuilt(ROOT)) return;
  const build = spawnSync(process.execPath, [join(ROOT, 'scripts', 'build.mjs')], { encoding: 'utf8' });
  if (build.status !== 0) throw new Error(`the build failed: ${build.stderr}`);
}
