import { fileURLToPath } from 'node:url';
import { type Exit, launch } from './child.ts';
import { cleanEnv } from './clean-env.ts';
import { type LogLine, logLines } from './log-lines.ts';
import { family } from './process-memory.ts';
import { temporaryFolder } from './temporary.ts';
import type { Stoppable, SvcVault } from './types.ts';
import { vaultEnvironment } from './vault-environment.ts';
import { waitFor } from './wait-for.ts';

const ENTRY = fileURLToPath(new URL('../../dist/wrapper.cjs', import.meta.url));

export interface WrapperOptions {
  readonly vault: SvcVault;
  /** For `SVC_SECRET_PATHS`. */
  readonly paths: readonly string[];
  /** What stands behind `--`; undefined for no `--`. */
  readonly command: readonly string[] | undefined;
  /** Further variables; undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Before `--`. */
  readonly args?: readonly string[];
  /** Commands that become the wrapper, such as `prlimit --memlock=65536`. */
  readonly under?: readonly string[];
  /** Default: dist/wrapper.cjs under this Node. */
  readonly entry?: readonly string[];
}

export interface WrapperRun extends Stoppable {
  readonly pid: number;
  /** Everything that the wrapper and its application wrote. */
  output(): string;
  /** The log lines, those of one event when it is named. */
  events(event?: string): LogLine[];
  /** Waits for a log line. */
  event(name: string, count?: number): Promise<LogLine>;
  /** Waits for a line of the application that matches; gives the match. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Base address of its health endpoint, once it has told. */
  health(): Promise<string>;
  signal(name: NodeJS.Signals): void;
  readonly ended: boolean;
  readonly exited: Promise<Exit>;
}

/** Starts the wrapper as built in dist/ with its health on a free port. */
export async function startWrapper(options: WrapperOptions): Promise<WrapperRun> {
  const folder = temporaryFolder('wrapper');
  const { entry = [process.execPath, ENTRY], under = [], args: flags = [], command } = options;
  const application = command === undefined ? [] : ['--', ...command];
  const [file = '', ...args] = [...under, ...entry, ...flags, ...application];
  const child = await launch(file, args, { env: environment(options, folder.path), cwd: folder.path });
  const events = (event?: string) => logLines(child.logs(), event);
  const wait = <T>(what: string, check: () => T | undefined | false) =>
    waitFor(`${what} of the wrapper`, check, { timeoutMs: 30_000, details: child.logs });
  return {
    pid: child.pid,
    output: child.logs,
    events,
    event: (name, count = 1) => wait(`event ${name}`, () => events(name)[count - 1]),
    says: (pattern) => wait(String(pattern), () => pattern.exec(child.logs()) ?? undefined),
    health: async () =>
      `http://${(await wait('health address', () => events('health.listening')[0])).address}`,
    signal: (name) => void process.kill(child.pid, name),
    get ended() {
      return child.ended;
    },
    exited: child.exited,
    async stop() {
      if (!child.ended) for (const pid of family(child.pid)) kill(pid);
      await child.exited;
      await folder.remove();
    },
  };
}

function environment({ vault, paths, env }: WrapperOptions, home: string): NodeJS.ProcessEnv {
  return cleanEnv({
    HOME: home,
    HEALTH_ADDR: '127.0.0.1:0',
    SVC_SECRET_PATHS: paths.join(','),
    SVC_REQUIRE_MLOCK: 'true',
    // the same tests hold for both forms of the wrapper; root that an agent keeps from tracing would stay by itself
    SVC_RESIDENT: process.env['SVC_RESIDENT'] ?? (env?.['SVC_EBPF_AGENT_ADDR'] && 'false'),
    ...vaultEnvironment(vault),
    ...env,
  });
}

/** Those of the family may end by themselves meanwhile. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
