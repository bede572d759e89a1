import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cleanEnv } from '../../../../support/clean-env.ts';

const FIXTURE = fileURLToPath(new URL('../fixtures/caller.ts', import.meta.url));

export interface CallerRun {
  /** As its own PID namespace numbers it. */
  readonly pid: number;
  /** An acknowledgement, or the message of an error. */
  // biome-ignore lint/suspicious/noExplicitAny: either of two
  readonly answers: readonly any[];
  end(): Promise<void>;
}

export interface CallerOptions {
  readonly count?: number;
  /** Commands that become the caller, such as `unshare --pid --fork`. */
  readonly under?: readonly string[];
}

/** Another process that registers; it stays until it is ended. */
export async function startCaller(socketPath: string, options: CallerOptions = {}): Promise<CallerRun> {
  const { count = 1, under = [] } = options;
  const [file = '', ...args] = [...under, process.execPath, FIXTURE, socketPath, String(count)];
  const child = spawn(file, args, { env: cleanEnv(), stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line') as Promise<[string]>,
    ended.then(() => Promise.reject(new Error('the caller ended without an answer'))),
  ]);
  return {
    ...JSON.parse(line),
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}
