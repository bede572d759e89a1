import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cleanEnv } from './clean-env.ts';
import { reapProcess } from './reaper.ts';

/** A program that inherits secrets as descriptor 3. */
export interface Inheritor {
  readonly child: ChildProcess;
  /** What it has written to standard output. */
  output(): string;
  /** What it has written to standard error. */
  errors(): string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts the program as the wrapper does; without a descriptor it gets no SVC_SECRET_FD either. */
export async function inherit(
  command: readonly [string, ...string[]],
  descriptor: number | undefined,
  env: Readonly<Record<string, string>> = {},
): Promise<Inheritor> {
  const [file, ...args] = command;
  const secrets = descriptor === undefined ? {} : { SVC_SECRET_FD: '3' };
  const child = spawn(file, args, {
    env: cleanEnv({ ...secrets, ...env }),
    stdio: ['ignore', 'pipe', 'pipe', descriptor ?? 'ignore'],
  });
  const text = { output: '', errors: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text.output += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text.errors += chunk;
  });
  await once(child, 'spawn');
  child.once('exit', reapProcess(child.pid as number));
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  return { child, output: () => text.output, errors: () => text.errors, exited };
}
