import { spawn } from 'node:child_process';
import { endFamily, whenIdle } from './activity.ts';

const TAIL = 2_000;
/** A download from a slow mirror or a build on a starved machine does something within this time. */
const MAX_IDLE_MS = 15 * 60_000;

export interface ExecOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Time bound in ms; SIGKILL follows. Without one, the command may take as long as it does something. */
  readonly timeoutMs?: number;
  /** For how long it may do nothing, in ms: no output, no processor time, nothing read or written. Default 15 minutes. */
  readonly maxIdleMs?: number;
  /** Gets everything that the command prints on standard error. */
  readonly onProgress?: (text: string) => void;
}

/**
 * Runs a command to its end and returns what it printed on standard output.
 * @throws Error with the command's name, status and the end of its output
 */
export async function exec(
  command: string,
  args: readonly string[],
  options: ExecOptions = {},
): Promise<string> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs,
    killSignal: 'SIGKILL',
  });
  const maxIdleMs = options.maxIdleMs ?? MAX_IDLE_MS;
  let stdout = '';
  let tail = '';
  let idle = '';
  const watch = whenIdle(child.pid, maxIdleMs, () => {
    idle = ` after ${maxIdleMs / 1000} s in which it did nothing`;
    endFamily(child.pid);
  });
  const note = (text: string) => {
    tail = (tail + text).slice(-TAIL);
    watch.active();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    note(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    note(text);
    options.onProgress?.(text);
  });
  const status = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal));
  }).finally(() => watch.stop());
  if (status !== 0)
    throw new Error(`${command} ${args[0] ?? ''} ended with ${status}${idle}: ${tail.trim()}`);
  return stdout;
}
