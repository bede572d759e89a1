import { spawn } from 'node:child_process';
import { cleanEnv } from './clean-env.ts';
import { reapProcess } from './reaper.ts';
import type { ClientRunOptions, CommandResult } from './types.ts';

/** Runs a command in a cleaned environment to its end, or kills it at the bound. */
export async function runCommand(
  command: string,
  args: readonly string[],
  cwd: string,
  options: ClientRunOptions = {},
): Promise<CommandResult> {
  const child = spawn(command, args, {
    cwd,
    env: cleanEnv(options.env),
    timeout: options.timeoutMs ?? 120_000,
    killSignal: 'SIGKILL',
  });
  if (child.pid) child.once('exit', reapProcess(child.pid));
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  child.stdin.on('error', () => undefined).end(options.input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, ...output }));
  });
}
