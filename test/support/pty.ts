import { spawn } from 'node:child_process';
import { DIE_WITH_PARENT } from './child.ts';

export interface Pty {
  /** As if it was typed; `\u0003` is Ctrl-C. */
  type(text: string): void;
  /** Of the program, as shells say it. */
  readonly exited: Promise<number | null>;
  kill(): void;
}

export interface PtyOptions {
  readonly rows: number;
  readonly columns: number;
  readonly env: NodeJS.ProcessEnv;
  readonly onOutput: (text: string) => void;
}

/** Runs a program on a pseudo terminal of its own, by script(1) of util-linux. */
export function runOnPty(command: readonly string[], { rows, columns, env, onOutput }: PtyOptions): Pty {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const line = `stty rows ${rows} cols ${columns}; exec ${quoted}`;
  const script = [
    'script',
    '--quiet',
    '--return',
    '--flush',
    '--echo',
    'always',
    '--command',
    line,
    '/dev/null',
  ];
  const [file = '', ...args] = [...DIE_WITH_PARENT, ...script];
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdout.setEncoding('utf8').on('data', onOutput);
  return {
    type: (text) => void child.stdin.write(text),
    exited: new Promise((resolve) => child.once('close', resolve)),
    kill: () => void child.kill('SIGKILL'),
  };
}
