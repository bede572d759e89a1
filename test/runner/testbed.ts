import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { select } from './discover.ts';
import type { RunnerOptions } from './options.ts';

const INSTALLER = fileURLToPath(new URL('../testbed/install.ts', import.meta.url));

const STDIO = ['ignore', 'inherit', 'inherit'] as const;
let background: ChildProcess | undefined;

/** Whether a suite needs Kubernetes, which takes many minutes to build the first time. */
export function needsKubernetes(file: string): boolean {
  return file.endsWith('.kubernetes.server.test.ts');
}

/**
 * Fetches the real servers before the first suite that needs them, outside every suite's time-out.
 * Where they cannot be had, the suites themselves say so and are skipped.
 * @returns what those that need Kubernetes wait for: it is built while the others run
 */
export function prepareTestbed({ root, fragments, quick }: RunnerOptions): Promise<void> {
  const { files } = select(root, fragments, quick);
  if (!existsSync(INSTALLER)) return Promise.resolve();
  const kubernetes = files.some(needsKubernetes) ? buildKubernetes() : Promise.resolve();
  const needed = files.some((file) => file.endsWith('.server.test.ts') && !needsKubernetes(file));
  if (needed) spawnSync(process.execPath, [INSTALLER], { stdio: [...STDIO] });
  return kubernetes;
}

/** Ends what is still being built. */
export function stopBuilding(): void {
  if (background?.pid === undefined || background.exitCode !== null) return;
  try {
    process.kill(-background.pid, 'SIGKILL');
  } catch {
    // it has ended by itself
  }
}

async function buildKubernetes(): Promise<void> {
  const tools = ['kubernetes', 'helm', 'network-policy-judge', 'cilium-policy-check'];
  const command = [process.execPath, INSTALLER, ...tools];
  background = spawn('nice', ['-n', '19', ...command], { stdio: [...STDIO], detached: true });
  await once(background, 'close');
}
