import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { DIE_WITH_PARENT, type Exit } from '../child.ts';
import { cleanEnv } from '../clean-env.ts';
import { reapProcess } from '../reaper.ts';
import { LineQueue } from './line-queue.ts';

/** A process that is spoken with by lines: JSON from it, commands to it. It ends when its input is closed. */
export interface LineProcess {
  readonly pid: number;
  /** @throws Error with its standard error when it ends without another line */
  next<T>(): Promise<T>;
  /** As next, but undefined when it ends without another line. */
  nextOrEnd<T>(): Promise<T | undefined>;
  send(line: string): void;
  /** Closes its input; what it still says can be read. */
  close(): void;
  readonly exited: Promise<Exit>;
  /** Kills it if it still lives, and waits for the end. */
  kill(): Promise<Exit>;
}

export async function startLineProcess(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<LineProcess> {
  const [file = program, ...rest] = [...DIE_WITH_PARENT, program, ...args];
  // What is added comes first: the kernel shows the first variable in places where it does not show others.
  const child = spawn(file, rest, { env: { ...env, ...cleanEnv() }, stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal }));
  await once(child, 'spawn');
  const pid = child.pid as number;
  child.once('exit', reapProcess(pid));
  child.stdin.on('error', () => undefined);
  const errors = collect(child);
  const lines = new LineQueue(child.stdout);
  const nextOrEnd = async <T>(): Promise<T | undefined> => {
    const line = await lines.next();
    return line === undefined ? undefined : (JSON.parse(line) as T);
  };
  return {
    pid,
    nextOrEnd,
    async next<T>() {
      const value = await nextOrEnd<T>();
      if (value === undefined) throw new Error(`${args.join(' ')} ended early: ${errors()}`);
      return value;
    },
    send: (line) => child.stdin.write(`${line}\n`),
    close: () => child.stdin.end(),
    exited,
    async kill() {
      child.kill('SIGKILL');
      const exit = await exited;
      // Children of its own may hold the other ends a little longer.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      return exit;
    },
  };
}

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return () => text.trim();
}
