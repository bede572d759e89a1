import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from './child.ts';
import { cleanEnv } from './clean-env.ts';
import { http } from './http.ts';
import { linesOf, startUpLine } from './start-up-line.ts';
import { temporaryFolder } from './temporary.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface SvcAgent {
  readonly pid: number;
  /** Of the socket, as `SVC_EBPF_AGENT_ADDR` takes it. */
  readonly address: string;
  /** Such as `http://127.0.0.1:39090`. */
  readonly health: string;
  /** Fields of its start-up line. */
  readonly started: Readonly<Record<string, string>>;
  output(): string;
  /** Lines of its log with this event, oldest first. */
  events(event: string): readonly Readonly<Record<string, unknown>>[];
  /** Sends the signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** With the same socket and tables. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface SvcAgentOptions {
  /** On a BPF file system of the test's own. */
  readonly bpfFolder: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A command that executes the rest of its arguments. */
  readonly under?: readonly string[];
}

/**
 * Starts `svc run agent` and waits for its start-up line.
 * @throws Error with what it printed when it ends first
 */
export async function startSvcAgent({ bpfFolder, env = {}, under = [] }: SvcAgentOptions): Promise<SvcAgent> {
  const folder = temporaryFolder('agent');
  let everything = '';
  const start = async () => {
    const begin = everything.length;
    const [command = '', ...args] = [...under, process.execPath, join(ROOT, 'bin/run.js'), 'run', 'agent'];
    const child = await launch(command, args, {
      env: cleanEnv({
        HOME: folder.path,
        SVC_AGENT_SOCKET: join(folder.path, 'agent.sock'),
        SVC_AGENT_HEALTH: '127.0.0.1:0',
        SVC_AGENT_BPF_FOLDER: bpfFolder,
        ...env,
      }),
      onOutput: (text) => {
        everything += text;
      },
    });
    return { child, started: await startUpLine('svc run agent', child, () => everything.slice(begin)) };
  };
  let current = await start();
  return {
    get pid() {
      return current.child.pid;
    },
    get started() {
      return current.started;
    },
    address: `unix://${join(folder.path, 'agent.sock')}`,
    get health() {
      return `http://${current.started['health']}`;
    },
    output: () => everything,
    events: (event) => linesOf(everything).filter((line) => line['event'] === event),
    kill: (signal) => current.child.end(signal),
    async restart() {
      if (!current.child.ended) await current.child.end();
      current = await start();
    },
    async stop() {
      if (!current.child.ended) await current.child.end('SIGKILL');
      await folder.remove();
    },
  };
}

/** The body of `/readyz` or `/healthz`, with its status. */
export async function probe(agent: SvcAgent, path: string): Promise<{ status: number; body: object }> {
  const { status, json } = await http(`${agent.health}${path}`);
  return { status, body: json as object };
}
