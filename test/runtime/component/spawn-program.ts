import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cleanEnv } from '../../support/clean-env.ts';
import { waitFor } from '../../support/wait-for.ts';

// biome-ignore lint/suspicious/noExplicitAny: parsed log lines
type Line = Record<string, any>;

/** A program of test/runtime/component/programs that runs. */
export interface Program {
  /** The exit status; 128+n is not made up here: a death by signal is its name. */
  readonly status: Promise<number | string>;
  /** The first log line with that event, as soon as it is there. */
  event(name: string): Promise<Line>;
  lines(): Line[];
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Closes the reading ends of both outputs. */
  closeOutput(): void;
}

type Variables = Readonly<Record<string, string>>;

/** Starts a program; it is killed when this process exits. */
export async function startProgram(
  name: string,
  env: Variables = {},
  args: readonly string[] = [],
): Promise<Program> {
  const file = fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: cleanEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killAtExit = () => child.kill('SIGKILL');
  process.once('exit', killAtExit);
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  child.stdout.resume();
  const status = once(child, 'close').then(([code, signal]) => {
    process.off('exit', killAtExit);
    return code ?? signal;
  });
  const lines = () => output.split('\n').flatMap(parsed);
  return {
    status,
    lines,
    output: () => output,
    event: (wanted) =>
      waitFor(wanted, () => lines().find(({ event }) => event === wanted), { details: () => output }),
    kill: (signal) => void child.kill(signal),
    closeOutput() {
      child.stderr.destroy();
      child.stdout.destroy();
    },
  };
}

/** Runs a program to its end. */
export async function run(name: string, env?: Variables, args?: readonly string[]): Promise<Program> {
  const program = await startProgram(name, env, args);
  await program.status;
  return program;
}

function parsed(line: string): Line[] {
  return line.startsWith('{') ? [JSON.parse(line)] : [];
}
