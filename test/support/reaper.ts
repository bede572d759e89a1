import { rmSync } from 'node:fs';

/**
 * What must not outlive the test process: child processes by their id, and folders.
 * They go on a normal exit, on an uncaught error and on the usual signals; a killed test process takes its
 * children with it by their parent-death signal (see child.ts).
 */
const pids = new Set<number>();
const folders = new Set<string>();
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
let armed = false;

export function reapProcess(pid: number): () => void {
  arm();
  pids.add(pid);
  return () => pids.delete(pid);
}

export function reapFolder(path: string): () => void {
  arm();
  folders.add(path);
  return () => folders.delete(path);
}

function arm(): void {
  if (armed) return;
  armed = true;
  process.on('exit', reap);
  for (const signal of SIGNALS) {
    process.once(signal, () => {
      reap();
      process.kill(process.pid, signal);
    });
  }
}

function reap(): void {
  for (const pid of pids) kill(pid);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
