import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { UNAVAILABLE, type UnavailableTool } from '../testbed/unavailable.ts';
import { select } from './discover.ts';
import type { RunnerOptions } from './options.ts';

const INSTALLER = fileURLToPath(new URL('../testbed/install.ts', import.meta.url));
const LOW_PRIORITY = 19;

/** What is built while suites run. */
export interface Testbed {
  /** Settles when that is there or cannot be had: what suites that need Kubernetes wait for. */
  readonly kubernetes: Promise<unknown>;
  /** Gives the build the processors: nothing else wants them. */
  hurry(): void;
  /** For suites: what cannot be had, so that none of them tries to build it again. */
  environment(): Readonly<Record<string, string>>;
}

export const NOTHING_TO_BUILD: Testbed = {
  kubernetes: Promise.resolve(),
  hurry: () => undefined,
  environment: () => ({}),
};

let background: ChildProcess | undefined;

/** Whether a suite needs Kubernetes, which takes many minutes to build the first time. */
export function needsKubernetes(file: string): boolean {
  return file.endsWith('.kubernetes.server.test.ts');
}

/**
 * Begins the build of Kubernetes, and meanwhile fetches the real servers before the first suite that needs them, outside
 * every suite's time-out. Where they cannot be had, the suites themselves say so and are skipped.
 */
export async function prepareTestbed({ root, fragments, quick }: RunnerOptions): Promise<Testbed> {
  if (!existsSync(INSTALLER)) return NOTHING_TO_BUILD;
  const { files } = select(root, fragments, quick);
  const unavailable: UnavailableTool[] = [];
  const building = files.some(needsKubernetes) ? buildKubernetes(unavailable) : Promise.resolve();
  if (files.some((file) => file.endsWith('.server.test.ts') && !needsKubernetes(file))) {
    await settled(install([], { detached: false }), unavailable);
  }
  return {
    kubernetes: building,
    hurry,
    environment: () => (unavailable.length === 0 ? {} : { [UNAVAILABLE]: JSON.stringify(unavailable) }),
  };
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

async function buildKubernetes(unavailable: UnavailableTool[]): Promise<void> {
  const tools = ['kubernetes', 'helm', 'network-policy-judge'];
  background = install(tools, { detached: true, under: ['nice', '-n', String(LOW_PRIORITY)] });
  await settled(background, unavailable);
}

/** Of each process and thread of the build, which is a process group; only root may do that. */
function hurry(): void {
  if (background?.pid === undefined || background.exitCode !== null) return;
  spawnSync('renice', ['-n', '0', '-g', String(background.pid)], { stdio: 'ignore' });
}

function install(
  tools: readonly string[],
  { detached, under = [] }: { readonly detached: boolean; readonly under?: readonly string[] },
): ChildProcess {
  const [command = '', ...args] = [...under, process.execPath, INSTALLER, ...tools];
  return spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached });
}

async function settled(installer: ChildProcess, unavailable: UnavailableTool[]): Promise<void> {
  installer.on('message', (message: Partial<UnavailableTool>) => {
    if (message.unavailable !== undefined) unavailable.push(message as UnavailableTool);
  });
  await once(installer, 'close');
}
