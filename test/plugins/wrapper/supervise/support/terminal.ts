import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { DIE_WITH_PARENT } from '../../../../support/child.ts';
import { cleanEnv } from '../../../../support/clean-env.ts';
import { reapProcess } from '../../../../support/reaper.ts';
import { ToolUnavailable } from '../../../../support/tool-unavailable.ts';
import { waitFor } from '../../../../support/wait-for.ts';

export const keys = { interrupt: '\x03', quit: '\x1c', suspend: '\x1a', end: '\x04' } as const;

/** A terminal of its own, with a program in it. */
export interface Terminal {
  type(text: string): void;
  /** Everything that was shown so far. */
  shown(): string;
  /** Waits until that is shown after what was shown before the last call, and gives it. */
  expect(what: string | RegExp): Promise<string>;
  /** The program's exit status. */
  readonly status: Promise<number>;
}

const probe = spawnSync('script', ['--version']);
if (probe.error) throw new ToolUnavailable('script', probe.error.message);

const open = new Set<ChildProcess>();

/** Ends what a failed test has left open. */
export function closeTerminals(): void {
  for (const child of open) child.kill('SIGKILL');
}

const quoted = (argument: string) => `'${argument.replaceAll("'", "'\\''")}'`;

/** Runs a command as the leader of a session with a new terminal, by util-linux's `script`. */
export function openTerminal(command: readonly string[], env: NodeJS.ProcessEnv = {}): Terminal {
  const line = `exec ${command.map(quoted).join(' ')}`;
  const [file = '', ...args] = [...DIE_WITH_PARENT, 'script', '-qfec', line, '/dev/null'];
  const child = spawn(file, args, {
    env: cleanEnv({
      ...{ SHELL: '/bin/sh', TERM: 'dumb', PS1: '$ ' },
      ...env,
    }),
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  if (child.pid !== undefined) child.once('exit', reapProcess(child.pid));
  open.add(child);
  child.once('exit', () => open.delete(child));
  let shown = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  return {
    type: (text) => child.stdin.write(text),
    shown: () => shown,
    async expect(what) {
      const match = await waitFor(`${what} on the terminal`, () => find(shown.slice(seen), what), {
        details: () => shown,
        timeoutMs: 20_000,
      });
      seen += match.end;
      return match.text;
    },
    status: new Promise((resolve) => child.once('close', (code) => resolve(code ?? -1))),
  };
}

function find(shown: string, what: string | RegExp): { text: string; end: number } | undefined {
  const text = typeof what === 'string' ? what : what.exec(shown)?.[0];
  const at = text === undefined ? -1 : shown.indexOf(text);
  return at === -1 ? undefined : { text: text as string, end: at + (text as string).length };
}
