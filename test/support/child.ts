import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { reapProcess } from './reaper.ts';
import { waitFor } from './wait-for.ts';

const KILL_AFTER_MS = 10_000;
const LAST_OUTPUT_MS = 1_000;
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
  /** Everything that it wrote to both outputs. */
  logs(): string;
  /**
   * Polls until `check` yields something true, which is returned; what it throws counts as not yet. After an early end
   * its whole output is there for a last check.
   * @param what with whose name an error begins
   * @throws Error with its output when it ends first, or when the bound is reached (default 60 000 ms)
   */
  until<T>(what: string, check: Check<T>, timeoutMs?: number): Promise<NonNullable<T>>;
  /** Sends the signal, SIGKILL 10 s later, and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<Exit>;
  /** Kills it where it still runs. */
  stop(): Promise<void>;
}

type Check<T> = () => T | false | Promise<T | false>;

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
  let output = '';
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output += text;
      options.onOutput?.(text, name);
    });
  }
  const exited = new Promise<Exit>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  await new Promise((resolve, reject) => child.once('spawn', () => resolve(undefined)).once('error', reject));
  const pid = child.pid as number;
  child.once('exit', reapProcess(pid));
  const launched: Child = {
    pid,
    exited,
    get ended() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    logs: () => output,
    async until(what, check, timeoutMs = 60_000) {
      const ended = Symbol('ended');
      const poll = async () => {
        try {
          return (await check()) || (launched.ended && ended);
        } catch (error) {
          // what has ended will not come to it
          if (launched.ended) return ended;
          throw error;
        }
      };
      const first = await waitFor(what, poll, { timeoutMs, details: () => output });
      if (first !== ended) return first as NonNullable<typeof first>;
      // what it has started may hold its outputs open
      await Promise.race([exited, sleep(LAST_OUTPUT_MS)]);
      const found = await Promise.resolve()
        .then(check)
        .catch(() => false as const);
      if (found) return found as NonNullable<typeof found>;
      throw new Error(`${what}: the process ended before that\n${output}`);
    },
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
      return exited.finally(() => clearTimeout(timer));
    },
    async stop() {
      if (!launched.ended) await launched.end('SIGKILL');
    },
  };
  return launched;
}

/**
 * Starts a process that is of use only once it is ready, and gives it with what `check` yielded.
 * @throws Error with its output when it ends before that; nothing is left running
 */
export async function launchReady<T>(
  what: string,
  [command = '', ...args]: readonly string[],
  options: LaunchOptions,
  check: (child: Child) => T | false | Promise<T | false>,
  timeoutMs?: number,
): Promise<{ readonly child: Child; readonly found: NonNullable<T> }> {
  const child = await launch(command, args, options);
  try {
    return { child, found: await child.until(what, () => check(child), timeoutMs) };
  } catch (error) {
    await child.stop();
    throw error;
  }
}
