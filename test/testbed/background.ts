import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ToolName } from './types.ts';

export interface BackgroundInstall {
  /** Resolves at its end, whatever the result: `requireTool` says it. */
  readonly done: Promise<void>;
  /** Ends it early; what was being built is built again next time. */
  stop(): void;
}

/**
 * Builds tools in a process of its own while tests run; a suite that calls `requireTool` waits for it.
 * Progress goes to this process's standard error.
 */
export function installInBackground(names: readonly ToolName[]): BackgroundInstall {
  const script = fileURLToPath(new URL('./install.ts', import.meta.url));
  const child = spawn(process.execPath, [script, ...names], { stdio: ['ignore', 'ignore', 'inherit'] });
  const done = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  return { done, stop: () => child.kill('SIGTERM') };
}
