import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { reapProcess } from './reaper.ts';

const KILL_AFTER_MS = 10_000;
const RING_CHARACTERS = 200_000;
const SETPRIV = '/usr/bin/setpriv';
/** Linux ends the child when this process dies, however it dies. */
export const DIE_WITH_PARENT = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', '--'] : [];

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface LaunchOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Gets everything that it writes to either output. */
  readonly onOutput?: (text: string, stream: 'stdout' | 'stderr') => void;
}

export interface Child {
  readonly pid: number;
  /** Settles when it has ended and its outputs are read. */
  readonly exited: Promise<Exit>;
  readonly ended: boolean;
  /** The last 200,000 characters of its output. */
  logs(): string;
  /** Sends the signal, SIGKILL 10 s later, and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<Exit>;
}

/**
 * Starts a process that ends with this one at the latest.
 * @throws Error when it cannot be started
 */
export async function launch(
  command: string,
  args: readonly string[],
  options: LaunchOptions,
): Promise<Child> {
  const [file = command, ...rest] = [...DIE_WITH_PARENT, command, ...args];
  const child = spawn(file, rest, { env: options.env, cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let ring = '';
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      ring = (ring + text).slice(-RING_CHARACTERS);
      options.onOutput?.(text, name);
    });
  }
  const exited = new Promise<Exit>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  await new Promise((resolve, reject) => child.once('spawn', () => resolve(undefined)).once('error', reject));
  const pid = child.pid as number;
  child.once('exit', reapProcess(pid));
  return {
    pid,
    exited,
    get ended() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    logs: () => ring,
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
      return exited.finally(() => clearTimeout(timer));
    },
  };
}
