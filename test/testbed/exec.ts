import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

const TAIL = 2_000;

export interface ExecOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Time bound in ms; SIGKILL follows. Default 30 minutes. */
  readonly timeoutMs?: number;
  /** File that gets everything the command prints. */
  readonly logFile?: string;
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
    timeout: options.timeoutMs ?? 30 * 60_000,
    killSignal: 'SIGKILL',
  });
  const log = options.logFile ? createWriteStream(options.logFile, { flags: 'a' }) : undefined;
  let stdout = '';
  let tail = '';
  const note = (text: string) => {
    tail = (tail + text).slice(-TAIL);
    log?.write(text);
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    note(text);
  });
  child.stderr.setEncoding('utf8').on('data', note);
  const status = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  if (log) await finished(log.end());
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ''} ended with ${status}: ${tail.trim()}`);
  return stdout;
}
