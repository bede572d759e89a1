import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { select } from './discover.ts';
import type { RunnerOptions } from './options.ts';

const INSTALLER = fileURLToPath(new URL('../testbed/install.ts', import.meta.url));

/**
 * Fetches the real servers before the first suite that needs them, outside every suite's time-out.
 * Where they cannot be had, the suites themselves say so and are skipped.
 */
export function prepareTestbed({ root, fragments, quick }: RunnerOptions): void {
  const needed = select(root, fragments, quick).files.some((file) => file.endsWith('.server.test.ts'));
  if (needed && existsSync(INSTALLER)) {
    spawnSync(process.execPath, [INSTALLER], { stdio: ['ignore', 'inherit', 'inherit'] });
  }
}
