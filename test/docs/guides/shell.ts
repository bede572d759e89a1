import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { reapProcess } from '../../support/reaper.ts';

const usuallyLongestMs = 100_000;

export interface LineResult {
  /** Both outputs as they came. */
  readonly output: string;
  readonly status: number;
}

/** A shell in which one line is typed after the other: variables, folders and background jobs stay. */
export interface Shell {
  /** @throws Error when the line does not end in time, or ends the shell */
  type(line: string): Promise<LineResult>;
  /** Ends it with everything that was started in it. */
  end(): Promise<void>;
}

export interface ShellOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** With a loopback interface and processes of its own, so that every port is free and all ends with the shell. */
  readonly alone: boolean;
  /** How long a line may take; default: 100 s. */
  readonly longestMs?: number;
}

const isolated = ['unshare', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const bash = ['bash', '--noprofile', '--norc'];

/** @throws Error where it cannot be started */
export async function openShell({
  cwd,
  env,
  alone,
  longestMs = usuallyLongestMs,
}: ShellOptions): Promise<Shell> {
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const [command = '', ...args] = alone ? [...isolated, ...asRoot, ...bash] : bash;
  const child = spawn(command, args, { cwd, env, stdio: 'pipe', detached: true });
  await once(child, 'spawn');
  const forget = reapProcess(child.pid as number);
  const typist = new Typist(child, longestMs);
  await typist.type(alone ? 'exec 2>&1; ip link set lo up' : 'exec 2>&1');
  return {
    type: (line) => typist.type(line),
    async end() {
      const closed = once(child, 'close');
      killGroup(child.pid as number);
      await closed;
      forget();
    },
  };
}

/** Background jobs of a shell that is not interactive are of its own group. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

class Typist {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #longestMs: number;
  readonly #mark = `end-of-line-${randomBytes(8).toString('hex')}`;
  #output = '';
  #status = 0;
  #look: () => void = () => undefined;

  constructor(child: ChildProcessWithoutNullStreams, longestMs: number) {
    this.#child = child;
    this.#longestMs = longestMs;
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    child.stdin.on('error', () => undefined);
    child.once('close', () => this.#look());
  }

  #take(text: string): void {
    this.#output += text;
    this.#look();
  }

  async type(line: string): Promise<LineResult> {
    this.#output = '';
    const before = `(exit ${this.#status})`;
    const after = `printf '\\n%s %d\\n' ${this.#mark} $?`;
    this.#child.stdin.write(`${before}; eval ${quoted(line)} < /dev/null; ${after}\n`);
    const answer = await this.#answer(line);
    this.#status = answer.status;
    return answer;
  }

  #answer(line: string): Promise<LineResult> {
    const { promise, resolve, reject } = Promise.withResolvers<LineResult>();
    const failed = (why: string) => reject(new Error(`$ ${line}\n${why}\n${this.#output}`));
    const timer = setTimeout(() => failed('did not end in time'), this.#longestMs);
    this.#look = () => {
      const end = new RegExp(`\\n${this.#mark} (\\d+)\\n`).exec(this.#output);
      if (end) resolve({ output: this.#output.slice(0, end.index), status: Number(end[1]) });
      else if (this.#child.exitCode !== null || this.#child.signalCode !== null) failed('ended the shell');
    };
    this.#look();
    return promise.finally(() => clearTimeout(timer));
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
